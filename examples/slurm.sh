#!/bin/sh
# Maps a network with many processes: sbatch examples/slurm.sh. A job that was interrupted goes on from its checkpoint.
#SBATCH --job-name=sextant
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
# Process 0 reports the best so far when the time is almost over.
#SBATCH --signal=TERM@60

network=${NETWORK:-resnet50}
arch=${ARCH:-simba}
exec srun --mpi=pmix --no-kill --kill-on-bad-exit=0 \
    sextant map --problem "$network" --arch "$arch" --warm-start off --threads "${SLURM_CPUS_PER_TASK:-1}" \
    --checkpoint "$network-$arch.ckpt" --json --output "$network-$arch.json"
