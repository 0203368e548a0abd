# What bench/learn.c measures, by PyTorch: usage: learn.py BATCH THREADS, or learn.py steps BATCH THREADS...
# The second form prints the samples per second of training steps alone, a line for each number of threads. The first one:
# Prints the seconds of a training step by the wall and by the processor, of an input gradient of the same network and of one
# of the compact network, these by the processor, on one thread.
import sys
import time

import torch
from torch import nn

PAPER = [62, 64, 256, 1024, 2048, 2048, 1024, 256, 64, 12]
COMPACT = [62, 128, 256, 256, 128, 12]


def network(widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def training(batch):
    net = network(PAPER)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loss = nn.SmoothL1Loss()
    inputs, targets = torch.rand(65536, 62), torch.rand(65536, 12)

    def step():
        rows = torch.randint(65536, (batch,))
        optimizer.zero_grad(set_to_none=True)
        loss(net(inputs[rows]), targets[rows]).backward()
        optimizer.step()

    return step


def gradient(widths):
    net = network(widths)
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    inputs = torch.rand(1, 62, requires_grad=True)

    def step():
        inputs.grad = None
        net(inputs).sum().backward()

    return step


def seconds(step, n, rounds, clock=time.process_time):
    step()
    best = float("inf")
    for _ in range(rounds):
        start = clock()
        for _ in range(n):
            step()
        best = min(best, (clock() - start) / n)
    return best


if sys.argv[1] == "steps":
    batch = int(sys.argv[2])
    for threads in sys.argv[3:]:
        torch.set_num_threads(int(threads))
        print(batch / seconds(training(batch), 4, 3, time.perf_counter), flush=True)
    sys.exit()

torch.set_num_threads(int(sys.argv[2]))
step = training(int(sys.argv[1]))
train = [seconds(step, 6, 2, time.perf_counter), seconds(step, 6, 1)]
torch.set_num_threads(1)
print(*train, seconds(gradient(PAPER), 30, 3), seconds(gradient(COMPACT), 300, 3))
