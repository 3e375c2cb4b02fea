"""A recorder of your own: it keeps a small JSON file beside the run, which another program may follow."""

import json
import sys

import merlax


class Best:
    """Writes `best.json` whenever a champion's test beats all before it."""

    def start(self, run):
        self.file = run.path / "best.json"
        known = self.file.exists() and run.generation > 0  # a run that is resumed goes on
        self.best = json.loads(self.file.read_text())["score"] if known else float("-inf")

    def record(self, row):
        if row["champion_score"] > self.best:
            self.best = row["champion_score"]
            self.file.write_text(json.dumps({"score": self.best, "frames": row["frames"]}))

    def stop(self):
        print(f"best test so far: {self.best:.3f}")


if __name__ == "__main__":
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    run = merlax.train("rover-1", "ea", frames=frames, callbacks=[Best()])
    print((run.path / "best.json").read_text())
