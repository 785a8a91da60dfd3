"use strict";
(() => {
  const place = document.querySelector(".workplace");
  if (!place) return;
  const { say, tell, follow, askUntilEnd } = window.ssme;
  const card = document.getElementById("card"), problem = document.getElementById("problem");
  const working = document.getElementById("working");
  const waiting = []; // keys and buttons that were pressed before the next row was there
  let busy = false, again = null, watched = null;

  // A label keeps its key until the server has it, so that sending it twice stores it once.
  const send = async (body) => {
    busy = true;
    try {
      const answer = await fetch(place.dataset.mark, {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        body,
      });
      const found = await answer.json();
      if (found.error) {
        complain(tell(found.error), body);
        return;
      }
      problem.hidden = true;
      again = null;
      if (found.changed) { location.reload(); return; } // the page then says what happened to the file
      const held = card.contains(document.activeElement) ? document.activeElement : null;
      card.innerHTML = found.card;
      keepFocus(held);
      say(`${found.said} ${card.querySelector("h2").textContent.trim()}`);
      if (found.job) watch(found.job);
      if (card.querySelector("input[name=row]").value === "null") setTimeout(look, 1500);
    } catch {
      complain("The server does not answer. Your label is kept here until it does.", body);
    } finally {
      busy = false;
    }
    goOn();
  };

  // What was pressed for rows that are not there is told, not kept for another row.
  const goOn = () => {
    while (waiting.length && !busy && !again) {
      const next = waiting.shift();
      if (!(typeof next === "string" ? pressKey(next) : pressAgain(next)) && !card.querySelector(".choices")) {
        say(`${waiting.length + 1} keys were pressed too many: no row is left for them.`);
        waiting.length = 0;
      }
    }
  };

  const pressAgain = ({ name, value }) => {
    const button = [...card.querySelectorAll("button")].find((b) => b.name === name && b.value === value);
    if (button) press(button);
    return Boolean(button);
  };

  // Who works by Tab and Enter stays where they were: on the same button, or at the new row.
  const keepFocus = (held) => {
    if (!held) return;
    const same = [...card.querySelectorAll("button")].find((b) => b.name === held.name && b.value === held.value);
    (same || card.querySelector("h2")).focus();
  };

  const pressKey = (key) => {
    const note = card.querySelector("input[name=note]");
    if (note && key === note.dataset.key && key) {
      note.focus();
      while (typeof waiting[0] === "string") note.value += waiting.shift();
      return true;
    }
    const button = [...card.querySelectorAll("button[data-key]")].find((b) => b.dataset.key === key && key);
    if (button) press(button);
    return Boolean(button);
  };

  const complain = (text, body) => {
    again = body;
    problem.hidden = false;
    problem.querySelector("p").textContent = text;
    problem.scrollIntoView({ block: "nearest" });
  };
  problem.querySelector("button").addEventListener("click", () => { if (again) send(again); });

  const look = () => { if (!busy) location.reload(); };

  const renew = async () => {
    const answer = await fetch(place.dataset.tightening, { headers: { accept: "application/json" } });
    if (!answer.ok) return;
    const known = await answer.json();
    document.getElementById("tightening").innerHTML = known.html;
    const decision = document.getElementById("decision");
    decision.innerHTML = known.decision;
    decision.hidden = !known.decision;
    say("The intervals are up to date.");
    count().catch(() => {});
  };

  const watch = (job) => {
    if (!working) return;
    working.classList.remove("idle");
    if (watched) watched.close();
    watched = follow(job, () => {}, () => {
      working.classList.add("idle");
      watched = null;
      renew().catch(() => {}); // the next label asks again
    });
  };

  if (place.dataset.running) watch(place.dataset.running);

  const plan = document.getElementById("plan");
  const count = async () => {
    const answer = await fetch(plan.dataset.plan, { headers: { accept: "application/json" } });
    if (!answer.ok) return;
    const found = await answer.json();
    if (found.job) askUntilEnd(found.job, () => count().catch(() => {}));
    if (!found.job || plan.hidden) plan.innerHTML = found.html; // until it is counted, the old one stays
    plan.hidden = !plan.innerHTML;
  };
  if (plan) count().catch(() => {});

  const press = (button) => {
    if (busy || again) { waiting.push({ name: button.name, value: button.value }); return; }
    const form = card.querySelector("form"), body = new URLSearchParams();
    for (const field of form.querySelectorAll("input, select")) body.set(field.name, field.value);
    body.set(button.name, button.value);
    send(body);
  };

  card.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter) press(event.submitter);
  });

  card.addEventListener("click", (event) => {
    const picture = event.target.closest(".zoom");
    if (!picture || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    picture.classList.toggle("in");
    say(picture.classList.contains("in") ? "Enlarged." : "As a whole.");
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if ((busy || again) && key.length === 1) waiting.push(key);
    else if (pressKey(key)) event.preventDefault();
  });
  place.dataset.ready = "yes";
})();
