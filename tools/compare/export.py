# SPDX-License-Identifier: BSD-2-Clause
"""The numbers for other programs: a row of CSV for each run, and JSON."""
import csv
import io
import json

from compare.machine import warnings_of

FIXED = ("app", "network", "transport", "consistency", "switch",
         "clusters", "hosts", "ranks", "round", "status", "verified",
         "seconds", "wall_seconds")


def row_make(configuration, run):
    row = dict(configuration._asdict())
    result = run.get("result") or {}
    row.update({"round": run["round"], "status": run["status"],
                "verified": result.get("verify", ""),
                "seconds": run["seconds"], "wall_seconds": run["wall"]})
    row.update((run.get("stats") or {}).get("sum", {}))
    return row


def csv_text(data):
    rows = [row_make(c, run) for c, point in data.points.items()
            for run in point.runs]
    names = dict.fromkeys(FIXED)
    for row in rows:
        names.update(dict.fromkeys(row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def configuration_make(data, configuration, point):
    return {**configuration._asdict(), "median": point.median(),
            "least": min(point.times, default=None),
            "most": max(point.times, default=None),
            "speedup": data.speedup(point), "parts": point.parts(),
            "runs": [
                {k: v for k, v in run.items() if k != "configuration"}
                for run in point.runs]}


def json_text(data):
    whole = {
        "hearth-compare": 1,
        "options": {**data.identity, "repeat": data.options.repeat,
                    "timeout": data.options.timeout},
        "sessions": data.sessions,
        "warnings": warnings_of(data),
        "bases": {app: c._asdict() for app, c in data.bases.items()},
        "configurations": [configuration_make(data, c, point)
                           for c, point in data.points.items()],
    }
    return json.dumps(whole, indent=1) + "\n"
