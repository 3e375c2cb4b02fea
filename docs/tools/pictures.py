"""Draws the pictures of the docs as SVG: python docs/tools/pictures.py writes them to docs/images."""

from __future__ import annotations

import math
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "images"
INK, SOFT, LINE = "#222", "#555", "#8a8f98"
BLUE, GREEN, ORANGE, RED, GOLD, GREY = "#2f6db5", "#3d8f5f", "#c9812b", "#c0392b", "#e0a800", "#eef1f6"
TEAM = ("#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#7a4a2a")


def text(
    x: float, y: float, words: str, size: float = 15, color: str = INK, anchor: str = "middle", more: str = ""
) -> str:
    return (
        f'<text x="{x:.4g}" y="{y:.4g}" font-size="{size}" fill="{color}" text-anchor="{anchor}" {more}>{words}</text>'
    )


def box(x: float, y: float, w: float, h: float, title: str, note: str = "", fill: str = GREY, edge: str = LINE) -> str:
    parts = [
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{fill}" stroke="{edge}" stroke-width="1.4"/>'
    ]
    lines = note.split("|") if note else []
    top = y + h / 2 + 5 - 9 * len(lines)
    parts.append(text(x + w / 2, top, title, 16, more='font-weight="bold"'))
    parts += [text(x + w / 2, top + 19 * (i + 1), line, 13.5, SOFT) for i, line in enumerate(lines)]
    return "".join(parts)


def arrow(
    points: str, label: str = "", at: tuple[float, float] = (0, 0), color: str = "#444", dashed: bool = False
) -> str:
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    line = f'<path d="{points}" fill="none" stroke="{color}" stroke-width="1.7"{dash} marker-end="url(#tip)"/>'
    return line + (text(*at, label, 13.5, color) if label else "")


def disc(x: float, y: float, r: float, fill: str, more: str = "") -> str:
    return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{r:.4g}" fill="{fill}" {more}/>'


def ring(x: float, y: float, r: float, color: str = LINE) -> str:
    return disc(x, y, r, "none", f'stroke="{color}" stroke-width="1.3" stroke-dasharray="5 4"')


def rover(x: float, y: float, heading: float, color: str, r: float = 11) -> str:
    """An arrow head that points along its heading, in degrees, counter-clockwise from the x axis."""
    corners = ((math.radians(heading + turn), r * far) for turn, far in ((0, 1.25), (140, 1), (180, 0.35), (220, 1)))
    points = " ".join(f"{x + far * math.cos(a):.4g},{y - far * math.sin(a):.4g}" for a, far in corners)
    return f'<polygon points="{points}" fill="{color}"/>'


def save(name: str, width: int, height: int, title: str, *parts: str) -> None:
    body = "\n".join(parts)
    (IMAGES / f"{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">\n<title>{title}</title>\n'
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L10 5 L0 10 z" fill="#444"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


def policy() -> None:
    """The multi-headed team policy (the paper's Figure 2)."""
    parts = []
    heads = ((1, 70, TEAM[0]), (2, 180, TEAM[2]), (0, 0, ""), (3, 340, TEAM[3]))
    for k, y, color in heads:
        if not k:
            parts += [text(x, 266, "⋮", 24, SOFT) for x in (115, 640, 790)]
            continue
        name = "N" if k == 3 else str(k)
        sup = f'<tspan font-size="11" dy="-6">{name}</tspan>'
        parts.append(box(40, y - 24, 150, 48, f"o{sup}", "", "#fff", color))
        parts.append(box(570, y - 24, 140, 48, f"head π{sup}", "", "#fff", color))
        parts.append(box(780, y - 24, 80, 48, f"a{sup}", "", "#fff", color))
        parts.append(arrow(f"M190 {y} C 225 {y} 225 205 262 205", color=color))
        parts.append(arrow(f"M508 205 C 540 205 535 {y} 568 {y}", color=color))
        parts.append(arrow(f"M710 {y} H778", "tanh", (743, y - 8), color))
    parts.append(box(265, 115, 105, 180, "100", "tanh", "#e9f0f9", BLUE))
    parts.append(box(400, 115, 105, 180, "100", "tanh", "#e9f0f9", BLUE))
    parts.append(arrow("M370 205 H398"))
    parts.append(text(385, 325, "trunk: one, for all agents", 15, BLUE))
    parts.append(text(115, 405, "each agent’s own observation", 14, SOFT))
    parts.append(text(640, 405, "one head per agent", 14, SOFT))
    parts.append(text(820, 405, "its action", 14, SOFT))
    save("policy", 900, 430, "A team policy: one trunk for all agents, and one head for each", *parts)


def loop() -> None:
    """The loop of MERL (the paper's Figure 3)."""
    evo, grad = ("#e6f3ea", GREEN), ("#fdf1dc", ORANGE)
    save(
        "loop", 940, 520, "MERL: evolution on the team reward, gradients on the agents' rewards, migration",
        text(235, 34, "evolution: the team’s reward", 17, GREEN, more='font-weight="bold"'),
        text(740, 34, "gradients: each agent’s reward", 17, ORANGE, more='font-weight="bold"'),
        box(110, 60, 250, 70, "population", "M teams", *evo),
        box(350, 215, 240, 80, "world", "pays the team and each agent", "#f2f2f2", LINE),
        box(110, 380, 250, 90, "selection", "elites stay, tournaments choose,|crossover and mutation", *evo),
        box(615, 60, 250, 70, "learner’s team", "plays with noise", *grad),
        box(615, 232, 250, 70, "replay buffers", "one for each agent", *grad),
        box(615, 390, 250, 80, "TD3", "critic, then one gradient step|for each head", *grad),
        arrow("M300 130 C 310 190 370 170 395 213", "play", (302, 180)),
        arrow("M680 130 C 670 175 570 165 545 213", "play", (650, 178)),
        arrow("M590 255 H613"),
        text(601, 332, "every step of everybody", 13.5, SOFT),
        arrow("M430 295 C 420 340 340 340 300 378", "fitness = Σ team reward", (455, 355), GREEN),
        arrow("M740 302 V388", "minibatches", (785, 372), ORANGE),
        arrow("M160 380 V132", "next generation", (98, 260), GREEN),
        arrow("M865 430 C 925 430 925 95 867 95", "", color=ORANGE),
        arrow("M613 95 C 540 95 440 95 362 95", "migrate: a copy joins the population", (490, 84), ORANGE, dashed=True),
    )  # fmt: skip


def rover_world() -> None:
    """One instance of the rover domain, coupling 3."""
    left, bottom, scale = 60, 440, 20.0
    at = lambda x, y: (left + scale * x, bottom - scale * y)  # noqa: E731
    parts = [f'<rect x="{left}" y="{bottom - 380}" width="380" height="380" fill="none" stroke="#bbb"/>']
    for x, y, seen in ((3, 15, True), (16, 12, False), (2, 3, False), (9, 1, False)):
        parts.append(ring(*at(x, y), 3 * scale, GOLD if seen else LINE))
        parts.append(disc(*at(x, y), 8, GOLD if seen else "#111"))
    team = ((2, 13.4, 240), (4.6, 14, 300), (3.8, 16.6, 20), (13.8, 10.9, 30), (14, 13.6, -20), (11, 8.4, 40))
    parts += [rover(*at(x, y), heading, color) for (x, y, heading), color in zip(team, TEAM, strict=True)]
    notes = (
        (GOLD, "observed: three rovers were within 3.0"),
        ("#111", "not yet: two of three are there"),
    )
    for i, (color, words) in enumerate(notes):
        parts += [disc(490, 110 + 40 * i, 8, color), text(508, 115 + 40 * i, words, 15, INK, "start")]
    parts += [rover(490, 190, 45, TEAM[0]), text(508, 195, "a rover and its heading", 15, INK, "start")]
    parts += [ring(490, 232, 11), text(508, 237, "observation distance, 3.0", 15, INK, "start")]
    parts += [text(477, 290, "The team is paid once, at the end:", 15, SOFT, "start")]
    parts += [text(477, 312, "the share of POIs observed, here 1/4.", 15, SOFT, "start")]
    parts += [text(477, 344, "A rover is paid in every step:", 15, SOFT, "start")]
    parts += [text(477, 366, "min(1, 3 / distance to its nearest POI).", 15, SOFT, "start")]
    save("rover-world", 840, 495, "The rover domain: six rovers, four POIs, coupling 3", *parts)


def sensors() -> None:
    """The two channels of a rover's 36 sectors."""
    cx, cy, radius = 220.0, 220.0, 180.0
    parts = []
    poi, other = (1.95, 0.55), (-0.95, -1.1)  # where they are, in units of half the radius
    for sector in range(36):
        a, b = (math.radians(10 * s) for s in (sector, sector + 1))
        xy = [(cx + radius * math.sin(t), cy - radius * math.cos(t)) for t in (a, b)]
        hit = {
            int((math.degrees(math.atan2(*target)) % 360) // 10): color
            for target, color in ((poi, "#ffe9a8"), (other, "#cfe3f7"))
        }
        fill = hit.get(sector, "#fff")
        parts.append(
            f'<path d="M{cx} {cy} L{xy[0][0]:.1f} {xy[0][1]:.1f} '
            f'A{radius} {radius} 0 0 1 {xy[1][0]:.1f} {xy[1][1]:.1f} z" '
            f'fill="{fill}" stroke="#d5d8de"/>'
        )
    parts.append(disc(cx + 90 * poi[0] * 0.85, cy - 90 * poi[1] * 0.85, 8, "#111"))
    parts.append(rover(cx + 90 * other[0], cy - 90 * other[1], 160, TEAM[3]))
    parts.append(rover(cx, cy, 60, TEAM[0], 13))
    parts.append(text(cx, 30, "+y: sector 0 begins here, clockwise", 14, SOFT))
    for y, swatch, words in (
        (120, "#ffe9a8", "sector 7 of the POI channel"),
        (160, "#cfe3f7", "sector 22 of the rover channel"),
    ):
        parts.append(f'<rect x="440" y="{y - 13}" width="18" height="18" fill="{swatch}" stroke="#bbb"/>')
        parts.append(text(468, y + 1, words, 15, INK, "start"))
    lines = (
        "Each sector holds the nearest target’s intensity.",
        "All other sectors are empty. A rover does not see",
        "itself, nor POIs that were observed.",
    )
    parts += [text(440, 215 + 24 * i, line, 15, SOFT, "start") for i, line in enumerate(lines)]
    save("sensors", 860, 425, "A rover's sensor: 36 sectors of 10 degrees, two channels", *parts)


def two_rovers() -> None:
    """The motivating example, to scale, with what each rover can reach."""
    left, bottom, scale = 60, 440, 20.0
    at = lambda x, y: (left + scale * x, bottom - scale * y)  # noqa: E731
    parts = [f'<rect x="{left}" y="{bottom - 380}" width="380" height="380" fill="none" stroke="#bbb"/>']
    starts, poi = ((9, 10), (14, 17)), ((1, 1), (1, 18))
    parts.append('<clipPath id="frame"><rect x="20" y="20" width="460" height="440"/></clipPath>')
    reach = disc(*at(*starts[1]), 14.5 * scale, TEAM[3], 'fill-opacity="0.09"')
    parts.append(f'<g clip-path="url(#frame)">{reach}</g>')
    for (x, y), color, name in zip(starts, (TEAM[0], TEAM[3]), "12", strict=True):
        parts.append(rover(*at(x, y), 0, color, 13))
        parts.append(text(at(x, y)[0] + 26, at(x, y)[1] + 5, f"rover {name}", 14, color, "start"))
    for i, (x, y) in enumerate(poi):
        parts += [ring(*at(x, y), 2 * scale), disc(*at(x, y), 8, "#111")]
        parts.append(text(at(x, y)[0] + 14, at(x, y)[1] + 34, f"POI {i + 1}", 14, INK, "start"))
    near = lambda a, b: [bound + 0.93 * (goal - bound) for bound, goal in zip(a, b, strict=True)]  # noqa: E731
    for a, b, color, dashed in (
        (starts[0], poi[0], GREEN, False),
        (starts[1], poi[1], GREEN, False),
        (starts[0], poi[1], RED, True),
    ):
        (x1, y1), (x2, y2) = at(*a), at(*near(a, b))
        parts.append(arrow(f"M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}", color=color, dashed=dashed))
    notes = (
        (GREEN, "together: both POIs, score 1.0"),
        (RED, "greedy: rover 1 takes the nearer POI,"),
        (RED, "which is rover 2’s only one: 0.5"),
    )
    parts += [text(500, 130 + 26 * i, words, 15, color, "start") for i, (color, words) in enumerate(notes)]
    parts.append(text(500, 230, "shaded: the 14.5 units that rover 2 can drive", 14, SOFT, "start"))
    save("two-rovers-world", 830, 470, "Two rovers: the greedy trap", *parts)


def particles() -> None:
    """The three contests."""
    frame = '<rect x="20" y="20" width="320" height="320" fill="none" stroke="#bbb"/>'
    tri = ((95, 255), (80, 120), (215, 280))
    chase = [arrow(f"M{x} {y} L{x + (230 - x) * 0.55:.0f} {y + (150 - y) * 0.55:.0f}", color=BLUE) for x, y in tri]
    save(
        "predator-prey-world", 720, 360, "Predator-prey: three predators, one prey, two obstacles", frame,
        disc(150, 70, 34, "#d8d8d8"), disc(285, 255, 34, "#d8d8d8"), *chase, *(disc(x, y, 13, BLUE) for x, y in tri),
        arrow("M230 150 L 292 96", color=RED), disc(230, 150, 9, RED),
        disc(385, 110, 13, BLUE), text(408, 115, "predator: slow; the team", 15, INK, "start"),
        disc(385, 150, 9, RED), text(408, 155, "prey: fast; it learns, too", 15, INK, "start"),
        disc(385, 190, 16, "#d8d8d8"), text(408, 195, "obstacle: blocks everybody", 15, INK, "start"),
        text(372, 245, "Every predator that touches the prey", 14, SOFT, "start"),
        text(372, 265, "scores one for the team, in each step.", 14, SOFT, "start"),
    )  # fmt: skip
    save(
        "physical-deception-world", 720, 360, "Physical deception: two agents, one opponent, two landmarks", frame,
        disc(95, 110, 15, GOLD), ring(95, 110, 22, GOLD), disc(265, 245, 15, "#999"),
        arrow("M150 200 L 112 128", color=BLUE), arrow("M190 280 L 248 252", color=BLUE),
        disc(150, 200, 24, BLUE, 'fill-opacity="0.75"'), disc(190, 280, 24, BLUE, 'fill-opacity="0.75"'),
        disc(230, 120, 24, RED, 'fill-opacity="0.75"'), text(230, 126, "?", 18, "#fff"),
        disc(385, 80, 15, GOLD), text(410, 85, "target: only the agents know it", 15, INK, "start"),
        disc(385, 122, 15, "#999"), text(410, 127, "another landmark", 15, INK, "start"),
        disc(385, 164, 15, BLUE), text(410, 169, "agent: the team", 15, INK, "start"),
        disc(385, 206, 15, RED), text(410, 211, "opponent: guesses", 15, INK, "start"),
        text(372, 260, "The team wants to be near the target", 14, SOFT, "start"),
        text(372, 280, "and the opponent far from it: cover both.", 14, SOFT, "start"),
    )  # fmt: skip
    save(
        "keep-away-world", 720, 360, "Keep-away: two agents, one opponent that pushes, two landmarks", frame,
        disc(120, 120, 12, GOLD), ring(120, 120, 19, GOLD), disc(270, 260, 12, "#999"),
        arrow("M235 100 L 178 112", color=BLUE), arrow("M130 240 L 124 150", color=BLUE),
        disc(235, 100, 13, BLUE), disc(130, 240, 13, BLUE),
        disc(152, 117, 13, RED), arrow("M165 115 L 205 106", color=RED),
        disc(385, 80, 12, GOLD), text(410, 85, "target: only the agents know it", 15, INK, "start"),
        disc(385, 122, 12, "#999"), text(410, 127, "another landmark", 15, INK, "start"),
        disc(385, 164, 13, BLUE), text(410, 169, "agent: the team", 15, INK, "start"),
        disc(385, 206, 13, RED), text(410, 211, "opponent: pushes them away", 15, INK, "start"),
        text(372, 260, "An agent loses its distance to the", 14, SOFT, "start"),
        text(372, 280, "target in each step, and the team the sum.", 14, SOFT, "start"),
    )  # fmt: skip


if __name__ == "__main__":
    for draw in (policy, loop, rover_world, sensors, two_rovers, particles):
        draw()
