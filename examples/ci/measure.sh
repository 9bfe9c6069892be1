#!/usr/bin/env bash
# Measure a model, require a minimum score, and compare it with a stored baseline.
#
# usage: MODEL=openai/NAME [BASE_URL=URL] [API_KEY_ENV=VARIABLE] [BENCHMARK=eyechart] [LIMIT=200]
#        [METRIC=accuracy] [FLOOR=0.6] [BASELINE=baseline] [MARGIN=0] [REVISION=…] measure.sh
#
# METRIC is a metric of the benchmark's headline scoring (`snellen show BENCHMARK`). FLOOR is a number
# in its unit: 0.6 is 60 % accuracy; for mme, use METRIC=perception FLOOR=1400. FLOOR= sets no floor.
# BASELINE is a folder of runs, such as the `runs` of an earlier job. MARGIN is the loss that is
# accepted, in the metric's unit. Writes runs/, report.html and, with a baseline, comparison.md and
# junit.xml. Exit codes: 0 if all is well; 1 if the score is below the floor, or worse than the
# baseline by more than MARGIN, or if questions have no reply; 2 for wrong usage.
set -euo pipefail
baseline=${BASELINE:-baseline}

if [ -z "${MODEL:-}" ]; then
    echo "measure.sh: no model. Name one: MODEL=openai/NAME measure.sh" >&2
    exit 2
fi
arguments=(-b "${BENCHMARK:-eyechart}" -m "$MODEL")
arguments+=(--limit "${LIMIT:-200}" --out runs)
floor=${FLOOR-0.6}
if [ -n "$floor" ]; then
    arguments+=(--fail-under "${METRIC:-accuracy}=$floor")
fi
if [ -n "${BASE_URL:-}" ]; then
    arguments+=(--base-url "$BASE_URL")
fi
if [ -n "${API_KEY_ENV:-}" ]; then
    arguments+=(--api-key-env "$API_KEY_ENV")
fi
if [ -n "${REVISION:-}" ]; then
    # The revision identifies the weights: different weights make a new run, even under the same name.
    printf 'revision = "%s"\n' "$REVISION" > revision.toml
    arguments+=(--profile revision.toml)
fi

code=0
snellen run "${arguments[@]}" || code=$?
if [ "$code" -gt 1 ]; then
    exit "$code"
fi
snellen report runs -o report.html
if [ -d "$baseline" ]; then
    snellen compare "$baseline" runs -o comparison.md --fail-if-worse "${MARGIN:-0}" \
        --junit junit.xml || code=$?
fi
exit "$code"
