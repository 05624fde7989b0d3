# SPDX-License-Identifier: BSD-2-Clause
"""
Pictures, by gnuplot: SVG to be put into the page.

Colours are those of Okabe and Ito, which colour-blind people tell apart, and
no line is told by its colour alone: points and dashes differ too.
"""
import re
import shutil
import subprocess

from compare.clusters import paper_curves
from compare.figures import PARTS
from compare.plan import HAND
from launch.trouble import Trouble

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
POINTS = (7, 5, 9, 13, 11, 15)
PAPER_POINTS = (6, 4)
BLACK, GREY = "#222222", "#8a8a8a"
PART_COLOURS = dict(zip(PARTS, ("#c9d6df", "#d55e00", "#cc79a7", "#0072b2",
                                "#e69f00")))

HEAD = """\
set terminal svg size {width},{height} dynamic noenhanced font 'sans-serif,{size}'
set border 3 lc rgb '#555555'
set tics nomirror
set grid ytics lc rgb '#e4e4e4' lw 1
"""

_number = 0


def gnuplot_require():
    if shutil.which("gnuplot") is None:
        raise Trouble("there is no gnuplot, which draws the page's pictures"
                      " (package gnuplot-nox)")


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def svg_embed(svg, about):
    """Without its prolog, with names of its own, and with a text that says
    what it shows."""
    global _number
    _number += 1
    svg = svg[svg.index("<svg"):]
    mark = f"p{_number}-"
    svg = re.sub(r"""\bid=(["'])""", rf"id=\1{mark}", svg)
    svg = re.sub(r"""href=(["'])#""", rf"href=\1#{mark}", svg)
    svg = svg.replace("url(#", f"url(#{mark}")
    # gnuplot's own title and description say that it is gnuplot's.
    svg = re.sub(r"<(title|desc)>.*?</\1>\n?", "", svg, flags=re.DOTALL)
    about = about.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(<svg[^>]*)>", lambda m: f'{m.group(1)} role="img">\n'
                  f"<title>{about}</title>", svg, count=1)


def picture_draw(width, height, script, about, size=15):
    text = HEAD.format(width=width, height=height, size=size) + script
    try:
        done = subprocess.run(["gnuplot"], input=text, capture_output=True,
                              text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Trouble(f"gnuplot: {problem}")
    if done.returncode != 0 or "</svg>" not in done.stdout:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Trouble("gnuplot cannot draw: "
                      f"{said[-1].strip() if said else 'no picture'}")
    return svg_embed(done.stdout, about)


def data_block(name, rows):
    lines = "\n".join(" ".join(str(v) for v in row) for row in rows)
    return f"${name} << END\n{lines}\nEND\n"


def line_style(data, line):
    """By its place among all lines, so that it looks alike everywhere."""
    if line == HAND:
        return f"lc rgb '{BLACK}' dt (6,4) lw 2 pt 2 ps 0.8"
    n = data.lines.index(line)
    return (f"lc rgb '{COLOURS[n % len(COLOURS)]}' lw 2 "
            f"pt {POINTS[n % len(POINTS)]} ps 0.8")


def cores_mark(data, network):
    """An upright line, right of which ranks share cores."""
    if network == "real" or data.cores >= data.ranks[-1]:
        return ""
    return f"""\
set arrow from {data.cores}, graph 0 to {data.cores}, graph 1 nohead back \
lc rgb '{GREY}' lw 1 dt (8,6)
set label 'cores' at {data.cores}, graph 0.97 right offset -0.5,0 \
tc rgb '{GREY}'
"""


def speedup_draw(data, app, network):
    """None where no line has a point.  All networks have one scale."""
    curves = {line: data.curve(app, network, line) for line in data.lines}
    curves = {line: rows for line, rows in curves.items() if rows}
    if not curves:
        return None
    paper = paper_curves(data, app, network)
    most = max([row[3] for line in data.lines for where in data.networks
                for row in data.curve(app, where, line)] +
               [row[1] for rows in paper.values() for row in rows])
    last = data.ranks[-1]
    # The whole line from the fewest ranks to the most, as high as it goes.
    blocks = data_block("ideal", [(n, n) for n in (data.ranks[0], last)])
    plots = [f"$ideal using 1:2 with lines lc rgb '{GREY}' lw 1.5 dt (2,4) title 'ideal'"]
    for n, (line, rows) in enumerate(curves.items()):
        blocks += data_block(f"d{n}", rows)
        plots.append(f"$d{n} using 1:2:3:4 with yerrorlines "
                     f"{line_style(data, line)} "
                     f"title {quoted(data.line_name(line))}")
    for n, (name, rows) in enumerate(paper.items()):
        blocks += data_block(f"p{n}", rows)
        plots.append(f"$p{n} using 1:2 with linespoints lc rgb '{GREY}' lw 1 "
                     f"pt {PAPER_POINTS[n % len(PAPER_POINTS)]} ps 0.8 "
                     f"title {quoted(name)}")
    script = blocks + cores_mark(data, network) + f"""
set title {quoted(f'{app}, {network}')}
set xlabel 'ranks' offset 0,0.6
set ylabel 'speedup'
set key bmargin center vertical maxrows 3 reverse Left samplen 2.5
set xtics ({', '.join(str(r) for r in data.ranks)})
set xrange [{min(data.ranks[0], 1) - 0.03 * last}:{1.03 * last}]
set yrange [0:{max(1.15 * most, 1.03 * last)}]
plot {', '.join(plots)}
"""
    return picture_draw(430, 390, script, f"Speedup of {app} against ranks, "
                        f"network {network}")


GAP = 0.5  # before the bars of another group


def bar_rows(bars):
    """From each bar's parts, rows of boxes: left, right, middle of y; as
    percent of the first bar of its group."""
    rows = {part: [] for part in PARTS}
    whole, group, y = None, None, -1.0
    for among, _, parts in bars:
        y += 1
        if among != group:
            y += GAP * (group is not None)
            whole, group = sum(parts.values()) or 1.0, among
        left = 0.0
        for part in PARTS:
            right = left + 100 * parts[part] / whole
            rows[part].append((left, right, -y))
            left = right
    return rows


def bars_draw(bars, network, ranks):
    """Twice: for a wide page, and for that of a phone, which has no room for
    names beside the bars and puts them above."""
    return [f'<div class="broad">{bars_picture(bars, network, ranks)}</div>',
            '<div class="slim">'
            f'{bars_picture(bars, network, ranks, True)}</div>']


def bars_picture(bars, network, ranks, slim=False):
    """On so many ranks, in words.  From (group, name, parts).  Bars lie, so
    that their names can be read; one after the other is a group's, mostly an
    application's, the first of which is 100 %."""
    rows = bar_rows(bars)
    blocks = "".join(data_block(f"d{n}", rows[part])
                     for n, part in enumerate(PARTS))
    last = rows[PARTS[-1]]
    ends = [(right, y, f'"{sum(parts.values()):.3g} s"')
            for (_, right, y), (_, _, parts) in zip(last, bars)]
    blocks += data_block("ends", ends)
    names = ", ".join(f"{quoted(name)} {y}"
                      for (_, _, y), (_, name, _) in zip(last, bars))
    low = last[-1][2]
    above = 0.05 if slim else 0.36  # what of a bar is above its middle
    plots = [f"$d{n} using 1:3:1:2:($3-0.36):($3+{above}) with boxxyerror "
             f"fs solid 1.0 noborder lc rgb '{PART_COLOURS[part]}' "
             f"title '{part}'" for n, part in enumerate(PARTS)
             if any(spent[part] for _, _, spent in bars)]
    plots.append(f"$ends using 1:($2-{0.18 - above / 2}):3 with labels left"
                 " offset 0.5,0 notitle")
    labels = "\n".join(f"set label {quoted(name)} at 0,{y + 0.28} left"
                       for (_, _, y), (_, name, _) in zip(last, bars))
    tics = f"{labels}\nunset ytics" if slim else f"set ytics ({names}) scale 0"
    most = max(row[0] for row in ends)
    script = blocks + f"""
set title {quoted(f'{network}, {ranks}')}
set xlabel '{'% of' if slim else 'percent of the time of'} the first bar of a group'
set key outside top center horizontal reverse Left samplen 1.5
unset grid
set grid xtics lc rgb '#e4e4e4'
{tics}
set xrange [0:{most * (1.3 if slim else 1.15)}]
set yrange [{low - 0.6}:0.6]
plot {', '.join(plots)}
"""
    size = (430, 260, 46) if slim else (880, 140, 26)
    return picture_draw(size[0], size[1] + int(size[2] * (1 - low)), script,
                        f"Parts of the time of each application, {network}",
                        15 if slim else 13)


def distribution_draw(curves, title, label):
    """Curves of (lower bound, count) by name; zero is put at the axis."""
    blocks, plots, bounds = "", [], set()
    for n, (name, counts) in enumerate(curves.items()):
        whole = sum(counts.values())
        rows = [(max(low, 0.5), 100 * count / whole)
                for low, count in counts.items()]
        bounds.update(low for low, _ in rows)
        blocks += data_block(f"d{n}", rows)
        plots.append(
            f"$d{n} using 1:2 with linespoints "
            f"lc rgb '{COLOURS[n % len(COLOURS)]}' lw 2 "
            f"pt {POINTS[n % len(POINTS)]} ps 0.7 dt {n % 5 + 1} "
            f"title {quoted(name)}")
    script = blocks + f"""
set title {quoted(title)}
set logscale x 2
set xrange [{min(bounds) / 1.3}:{max(bounds) * 1.3}]
set format x '%.0f'
set xtics autofreq rotate by -40 font ',12'
set xlabel {quoted(label)} offset 0,0.6
set ylabel '% of all'
set key bmargin center vertical maxrows 3 reverse Left samplen 2
set yrange [0:*]
plot {', '.join(plots)}
"""
    return picture_draw(310, 360, script, title, 13)
