#!/usr/bin/env bash
# Trains the champions of this folder, and keeps of each run what it takes to play its team.
# Name worlds to train only those. A run that was interrupted goes on. Half an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then set -- rover-3 rover-7 two-rovers predator-prey physical-deception keep-away; fi
for world in "$@"; do
    run=runs/champions/$world
    case $world in
        two-rovers) frames=400000 ;;
        physical-deception) frames=2000000 ;;
        *) frames=1000000 ;;
    esac
    "${MERLAX:-.venv/bin/merlax}" train "$world" --frames $frames --seed 2019 --out "$run" --go-on
    rm -rf "champions/$world"
    mkdir "champions/$world"
    for kept in config.json final.json champion opponent; do
        if [ -e "$run/$kept" ]; then cp -r "$run/$kept" "champions/$world"; fi
    done
done
