"use strict";
(() => {
  const csrf = document.querySelector("meta[name=csrf]").content;
  const say = (text) => { document.getElementById("status").textContent = text; };

  const tell = ({ got, fix }) =>
    [got, fix && `What to do: ${fix}`].filter(Boolean).join(" ");

  // Follow a job: report each state to `hear`, and call `end` with the last one.
  const follow = (job, hear, end) => {
    const source = new EventSource(`/jobs/${job}/events`);
    source.addEventListener("message", (event) => {
      const state = JSON.parse(event.data);
      if (state.state === "waiting" || state.state === "running") { hear(state); return; }
      source.close();
      end(state);
    });
    return source;
  };

  // A browser keeps six connections to a server: what is not urgent asks now and then instead.
  const askUntilEnd = (job, end) => {
    setTimeout(async () => {
      let state = "waiting"; // also while the server is away
      try {
        const answer = await fetch(`/jobs/${job}/state`, { headers: { accept: "application/json" } });
        state = answer.ok ? (await answer.json()).state : "failed";
      } catch { /* asked again */ }
      if (state === "waiting" || state === "running") askUntilEnd(job, end); else end();
    }, 1500);
  };
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.title = time.textContent;
    time.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
  window.ssme = { csrf, say, tell, follow, askUntilEnd };

  for (const box of document.querySelectorAll(".progress[data-job]")) {
    const bar = box.querySelector("progress"), doing = box.querySelector(".doing");
    follow(box.dataset.job, (state) => {
      if (state.state === "waiting") { doing.textContent = "It waits for its turn."; return; }
      doing.textContent = `Now: ${state.doing}${state.of > 1 ? `, ${state.done} of ${state.of}` : ""}.`;
      if (state.of > 1) bar.value = state.done / state.of; else bar.removeAttribute("value");
    }, () => location.reload());
  }

  const place = document.querySelector("[data-charts]");
  if (place) {
    const load = async () => {
      const answer = await fetch(place.dataset.charts, { headers: { accept: "application/json" } });
      if (!answer.ok) return;
      const found = await answer.json();
      if (found.html) place.innerHTML = found.html;
      else askUntilEnd(found.job, () => load().catch(() => {}));
    };
    load().catch(() => {});
  }

  const drop = document.getElementById("drop");
  if (drop) {
    const field = document.getElementById("upload"), bar = document.getElementById("sending");
    const problem = document.getElementById("upload-problem");
    const complain = (text) => {
      bar.hidden = true;
      problem.hidden = false;
      problem.querySelector("p").textContent = text;
    };
    const send = (file) => {
      problem.hidden = true;
      bar.hidden = false;
      const request = new XMLHttpRequest();
      request.open("PUT", `${drop.dataset.upload}?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader("x-csrf", csrf);
      request.setRequestHeader("accept", "application/json");
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      request.addEventListener("load", () => {
        let found = {};
        try { found = JSON.parse(request.responseText); } catch { /* not ours */ }
        if (found.go) { location.assign(found.go); return; }
        const error = found.error || { got: "The server did not take the file.", fix: "" };
        complain(tell(error));
      });
      request.addEventListener("error", () => complain("The file did not arrive. Is the server still running?"));
      request.send(file);
    };
    field.addEventListener("change", () => { if (field.files[0]) send(field.files[0]); });
    for (const kind of ["dragenter", "dragover"]) {
      drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
    }
    for (const kind of ["dragleave", "drop"]) {
      drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.remove("over"); });
    }
    drop.addEventListener("drop", (event) => { if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]); });
    drop.addEventListener("submit", (event) => event.preventDefault());
  }
})();
