# SPDX-License-Identifier: BSD-2-Clause
"""The comparison for a browser: one file that loads nothing."""
from html import escape

from report.text import change, seconds, verdict

STYLE = """
:root { --back: #fff; --text: #1a1a1a; --dim: #5c5c5c; --line: #d8d8d8;
        --better: #0072b2; --worse: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181b; --text: #e8e8e8; --dim: #a5a5a5; --line: #3a3d42;
          --better: #56b4e9; --worse: #f0894a; }
}
* { box-sizing: border-box; }
body { background: var(--back); color: var(--text); margin: 0 auto;
       padding: 1rem; max-width: 60rem; line-height: 1.45;
       font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .2rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p, li, dd, td, th { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--dim); }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem;
        font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; vertical-align: top;
         border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
td.n { white-space: nowrap; overflow-wrap: normal; }
.better { color: var(--better); }
.worse { color: var(--worse); }
.bar { display: block; height: .4rem; margin-top: .2rem; max-width: 100%; }
.bar.better { background: var(--better); }
.bar.worse { background: var(--worse); }
.dim { color: var(--dim); }
@media (max-width: 640px) {
  body { padding: .6rem; }
  th, td { padding: .25rem .2rem; }
  dl { grid-template-columns: 1fr; }
}
"""


def row_of(row, longest):
    """A bar under the name is as long as the change."""
    kind = "better" if row.change() < 0 else "worse"
    width = 100 * abs(row.change()) / longest if longest else 0
    name = f"{row.kind} {row.name}".strip()
    return (f"<tr><td>{escape(name)}<span class=\"bar {kind}\""
            f' style="width:{width:.1f}%"></span></td>'
            f'<td class="n">{seconds(row.a)}</td>'
            f'<td class="n">{seconds(row.b)}</td>'
            f'<td class="n {kind}">{change(row)}</td></tr>\n')


def section(mark, title, rows):
    longest = max((abs(row.change()) for row in rows), default=0)
    body = "".join(row_of(row, longest) for row in rows)
    content = ("<table><thead><tr><th>what</th><th>A, s</th><th>B, s</th>"
               f"<th>B - A, s</th></tr></thead><tbody>\n{body}</tbody></table>"
               if rows else "<p>nothing by much</p>")
    return (f'<section id="{mark}"><h2>{title}</h2>{content}</section>\n')


def advice_of(comparison):
    title = {"gone": "Advice that is gone", "new": "New advice",
             "still": "Advice that is still there"}
    return "".join(
        f'<section id="{mark}"><h2>{title[mark]}</h2><ul>\n' +
        "".join(f"<li><b>{escape(rule)}</b>: {escape(what)}</li>\n"
                for rule, what in items) + "</ul></section>\n"
        for mark, items in comparison.advice() if items)


def head_of(comparison):
    words = [("A", comparison.a.words()), ("B", comparison.b.words())]
    words += [(name, f"{before or 'nothing'} in A, {now or 'nothing'} in B")
              for name, before, now in comparison.options()]
    return "<dl>\n" + "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n"
        for name, text in words) + "</dl>\n"


def page_of(comparison):
    what = verdict(comparison.elapsed)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,'
            'initial-scale=1"><title>Hearth: two runs</title>'
            f"<style>{STYLE}</style></head><body>\n"
            "<h1>Two runs side by side</h1>\n" + head_of(comparison) +
            section("time", f"Elapsed: {what}",
                    [comparison.elapsed, comparison.whole]) +
            section("parts", "Where the time of all ranks went",
                    comparison.parts) +
            section("better", "Better", comparison.better) +
            section("worse", "Worse", comparison.worse) +
            f'<p class="dim">{comparison.same} places changed little.</p>\n' +
            advice_of(comparison) + "</body></html>\n")
