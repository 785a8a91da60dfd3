"""
Results in MLflow
=================

An evaluation goes into the run of an experiment tracker: every metric with the ends of its
interval, the settings, and the report as an artifact.
"""

# sphinx_gallery_thumbnail_path = "images/report-ten-classes.png"

import importlib.util
import logging
import os
from pathlib import Path
from tempfile import mkdtemp

import ssme
from ssme.sample import sample_path

result = ssme.evaluate(sample_path(), "label", id="id", metrics=["accuracy", "ece"])

# %%
# MLflow is an extra (``pip install 'ssme[mlflow]'``). Where these pages were built without it, the
# outputs below are absent, and the next line says so. ``make test-integrations`` runs this page
# with it.

installed = importlib.util.find_spec("mlflow") is not None
print("MLflow is installed." if installed else "MLflow is not installed: no outputs below.")

# %%
# Log a run
# ---------
# A local folder replaces your tracking server.

if installed:
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import mlflow

    logging.getLogger("mlflow").setLevel(logging.WARNING)  # no lines about a new database
    mlflow.set_tracking_uri(f"sqlite:///{Path(mkdtemp()) / 'runs.db'}")
    experiment = mlflow.create_experiment("digits", artifact_location=mkdtemp())
    with mlflow.start_run(experiment_id=experiment) as run:
        result.to_mlflow()

# %%
# What is there
# -------------
# Keys are ``metric/model``, and the same with ``.low``, ``.high`` and ``.labels_only`` appended.

if installed:
    logged = mlflow.get_run(run.info.run_id).data
    for key in sorted(key for key in logged.metrics if key.startswith("accuracy/forest")):
        print(f"{key} {logged.metrics[key]:.3f}")
    print(logged.params)

# %%
# The report is an artifact of the run, ``report.html``, next to ``ssme.json`` with the same facts.

if installed:
    print([each.path for each in mlflow.MlflowClient().list_artifacts(run.info.run_id)])
