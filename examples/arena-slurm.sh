#!/bin/sh
# Plays one shard of a run in each task of a Slurm array, and merges the shards when all are done:
#   sbatch --array=1-16 examples/arena-slurm.sh
#   sbatch --dependency=afterok:ID --wrap='alina-arena merge shard-*.jsonl --out games.jsonl'
# A restarted task continues where its file ends.
#SBATCH --job-name=alina-arena
#SBATCH --cpus-per-task=2
#SBATCH --requeue
set -eu
file="shard-$SLURM_ARRAY_TASK_ID.jsonl"
if [ -e "$file" ]; then
  exec alina-arena resume "$file" --threads "$SLURM_CPUS_PER_TASK"
fi
exec alina-arena run --x mcts:1000 --o perfect --games 100000 --seed 7 \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --threads "$SLURM_CPUS_PER_TASK" --out "$file"
