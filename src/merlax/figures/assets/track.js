"use strict";
// The team's score over time, below the picture and in step with it; a finger or mouse on it moves the time.
merlax.lineColors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

merlax.track = (player) => {
  const canvas = merlax.el("canvas", { class: "track", role: "img", "aria-label": "Team score over time" });
  const left = 46, right = 10, top = 8, bottom = 16;
  const paint = merlax.sharp(canvas, (context, width, height) => {
    const { scenes } = player.episode, steps = Math.max(1, player.last);
    const all = scenes.flatMap((scene) => Array.from(scene.score)).filter(Number.isFinite);
    let low = Math.min(0, ...all), high = Math.max(...all, low + 1e-9);
    if (high - low < 1e-6) high = low + 1;
    const x = (t) => left + (t / steps) * (width - left - right);
    const y = (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = merlax.theme.read("muted");
    context.strokeStyle = merlax.theme.read("line");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of [low, high]) {
      context.fillText(merlax.number(value, 2), left - 8, y(value));
      context.beginPath();
      context.moveTo(left, y(value));
      context.lineTo(width - right, y(value));
      context.stroke();
    }
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText("team score", left, height - 3);
    context.textAlign = "right";
    context.fillText(`${player.stepAt(player.last)} steps`, width - right, height - 3);
    scenes.forEach((scene, k) => {
      const color = merlax.theme.shade(merlax.lineColors[k % merlax.lineColors.length]);
      const line = (from, to) => {
        context.beginPath();
        for (let t = from; t <= to; t++) {
          if (t > from) context.lineTo(x(t), y(scene.score[t - 1]));
          context.lineTo(x(t), y(scene.score[t]));
        }
        context.stroke();
      };
      const end = scene.score.length - 1, now = Math.min(Math.floor(player.at), end);
      context.strokeStyle = color;
      context.lineJoin = "round";
      context.globalAlpha = 0.3;
      context.lineWidth = 1.5;
      line(0, end);
      context.globalAlpha = 1;
      context.lineWidth = 2.5;
      line(0, now);
      context.fillStyle = color;
      context.beginPath();
      context.arc(x(Math.min(player.at, end)), y(scene.score[now]), 4, 0, 2 * Math.PI);
      context.fill();
    });
    context.fillStyle = merlax.theme.read("ink");
    context.globalAlpha = 0.45;
    context.fillRect(x(player.at) - 0.5, top - 4, 1, height - top - bottom + 8);
    context.globalAlpha = 1;
  });
  const seek = (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - left) / (box.width - left - right);
    player.pause();
    player.go(Math.round(Math.max(0, Math.min(1, share)) * player.last));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    seek(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && seek(event));
  return { canvas, paint };
};
