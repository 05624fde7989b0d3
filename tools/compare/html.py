# SPDX-License-Identifier: BSD-2-Clause
"""Means of the page: tables, figures, and how they look."""
import html
import re

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", "Liberation Sans", sans-serif;
       color: #222; background: #fff; max-width: 56rem;
       margin: 2rem auto 4rem; padding: 0 1rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; padding-bottom: .2rem;
     border-bottom: 2px solid #0072b2; break-after: avoid; }
p { margin: .6rem 0; max-width: 44rem; }
a { color: #005a8c; }
nav { font-size: .92rem; margin: 1rem 0; }
nav a { margin-right: 1rem; white-space: nowrap; }
.lead { font-size: 1.05rem; }
.warning { border-left: .35rem solid #d55e00; background: #fdf3ec;
           padding: .5rem .9rem; margin: .8rem 0; }
figure { margin: 1.4rem 0 2rem; break-inside: avoid; }
figure.long { break-inside: auto; }
.pair { display: grid; gap: 0 1.5rem;
        grid-template-columns:
        repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.pair figure { margin: 1rem 0; }
.pictures { display: grid; gap: .5rem 1rem;
            grid-template-columns:
            repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.pictures.narrow { grid-template-columns:
                   repeat(auto-fit, minmax(16rem, 1fr)); }
.pictures svg { width: 100%; height: auto; max-width: 34rem; }
.pictures.wide { display: block; }
.pictures.wide svg { max-width: 100%; }
.slim { display: none; }
@media screen and (max-width: 44rem) {
  .slim { display: block; }
  .broad { display: none; }
}
figcaption { font-size: .9rem; color: #444; max-width: 44rem;
             margin-top: .4rem; }
figcaption b { color: #222; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87rem;
        font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .5rem; text-align: left; vertical-align: baseline;
         border-bottom: 1px solid #e4e4e4; }
thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
td { white-space: nowrap; }
td.long { white-space: normal; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; }
tbody tr.first td { border-top: 1px solid #888; }
td.bad { color: #a33c00; font-weight: 600; }
pre { font-size: .8rem; background: #f6f6f6; padding: .5rem .8rem;
      white-space: pre-wrap; overflow-wrap: anywhere; }
small { color: #555; }
@media print {
  body { max-width: none; margin: 0; font-size: 10.5pt; }
  nav { display: none; }
  .warning { background: none; border: 1px solid #d55e00;
             border-left-width: .35rem; }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
"""

escape = html.escape


class Bad(str):
    """A cell that says that something went wrong."""


class Long(str):
    """A cell that may have several lines."""


def cell(value, numeric, head=False):
    name = "th" if head else "td"
    kind = "n" if numeric else ""
    kind += " bad" if isinstance(value, Bad) else ""
    kind += " long" if isinstance(value, Long) else ""
    about = f' class="{kind.strip()}"' if kind else ""
    about += ' scope="col"' if head else ""
    return f"<{name}{about}>{escape(str(value))}</{name}>"


def table(head, rows, texts):
    """Texts columns come first, numbers follow.  A row whose first cell
    differs from the one before begins a group, and the same is not said
    twice."""
    if not rows:
        return paragraph("Nothing was counted.")
    out = ["<div class=\"scroll\"><table>\n<thead><tr>"]
    out += [cell(value, n >= texts, True) for n, value in enumerate(head)]
    out.append("</tr></thead>\n<tbody>\n")
    before = None
    for row in rows:
        first = ' class="first"' if row[0] != before else ""
        out.append(f"<tr{first}>")
        out += [cell("" if n == 0 and not first else value, n >= texts)
                for n, value in enumerate(row)]
        out.append("</tr>\n")
        before = row[0]
    out.append("</tbody></table></div>\n")
    return "".join(out)


def figure(name, pictures, caption, kind=""):
    """Kind: wide or narrow pictures, or those of the usual width."""
    return (f'<figure>\n<div class="pictures {kind}">\n' +
            "\n".join(pictures) +
            f"</div>\n<figcaption><b>{name}.</b> {caption}</figcaption>"
            "\n</figure>\n")


def figure_of_table(name, content, caption):
    return (f'<figure class="long">\n<figcaption><b>{name}.</b> {caption}'
            f"</figcaption>\n{content}</figure>\n")


def section(mark, title, *content):
    return (f'<section id="{mark}">\n<h2>{escape(title)}</h2>\n' +
            "".join(content) + "</section>\n")


def contents(sections):
    """Links to them."""
    found = re.findall(r'<section id="(.*?)">\n<h2>(.*?)</h2>', sections)
    return "<nav>" + "\n".join(f'<a href="#{mark}">{title}</a>'
                               for mark, title in found) + "</nav>\n"


def paragraph(text, kind=""):
    about = f' class="{kind}"' if kind else ""
    return f"<p{about}>{text}</p>\n"


def document(title, body):
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n'
            '<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width,'
            ' initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
            f"</head>\n<body>\n{body}</body>\n</html>\n")
