#!/usr/bin/env bash
# A Ray cluster for one job under Slurm:
#   sbatch --nodes=4 cluster/slurm.sh configs/quickstart.yaml /shared/runs/q --set run.workers=4
# The first node is the head. The token lives as long as the job, in a file for you alone on storage
# that all nodes see; the dashboard listens on the head's loopback.
#SBATCH --job-name=gsl-scale
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --exclusive
#SBATCH --requeue
set -euo pipefail

config=${1:?usage: sbatch slurm.sh CONFIG OUT [gsl-scale run options]}
out=${2:?usage: sbatch slurm.sh CONFIG OUT [gsl-scale run options]}
shift 2

umask 077
secret=$(mktemp -d "${HOME}/.gsl-scale-${SLURM_JOB_ID}-XXXXXX")
python -c 'import secrets; print(secrets.token_hex(32))' > "${secret}/token"
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="${secret}/token" RAY_USAGE_STATS_ENABLED=0

mapfile -t nodes < <(scontrol show hostnames "${SLURM_JOB_NODELIST}")
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 -w "${head}" hostname --ip-address | awk '{print $1}')
port=$((20000 + SLURM_JOB_ID % 20000))
steps=()

finish() {
  kill "${steps[@]}" 2> /dev/null || true
  rm -rf "${secret}"
}
trap finish EXIT

cpus=${SLURM_CPUS_PER_TASK:-1}
gpus=${SLURM_GPUS_ON_NODE:-0}
srun --nodes=1 --ntasks=1 --overlap -w "${head}" \
  ray start --head --block --node-ip-address="${address}" --port="${port}" \
  --dashboard-host=127.0.0.1 --num-cpus="${cpus}" --num-gpus="${gpus}" --disable-usage-stats &
steps+=("$!")
sleep 15
for node in "${nodes[@]:1}"; do
  srun --nodes=1 --ntasks=1 --overlap -w "${node}" \
    ray start --block --address="${address}:${port}" \
    --num-cpus="${cpus}" --num-gpus="${gpus}" --disable-usage-stats &
  steps+=("$!")
done
sleep 15

RAY_ADDRESS="${address}:${port}" srun --nodes=1 --ntasks=1 --overlap -w "${head}" \
  gsl-scale run "${config}" --out "${out}" "$@"
