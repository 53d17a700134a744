# Program: a cable that takes its time and loses packets, between two network interfaces that it makes, until its standard input closes.
#
#   python3 cable.py <interface> <other interface>
#
# Each line of standard input, `<milliseconds each way> <share that is lost>`, changes it; a line is answered by `ok`. The kernel's own
# delays (tc netem) are not in every kernel.

import collections
import fcntl
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def make(name):
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return end


here, there = make(sys.argv[1]), make(sys.argv[2])
random.seed(1)
print("ok", flush=True)
other = {here: there, there: here}
waiting = {here: collections.deque(), there: collections.deque()}
delay = lost = 0.0

while True:
    now = time.monotonic()
    for end, frames in waiting.items():
        while frames and frames[0][0] <= now:
            try:
                os.write(other[end], frames.popleft()[1])
            except OSError:
                pass  # An interface that is down takes nothing.
    due = [frames[0][0] - now for frames in waiting.values() if frames]
    ready, _, _ = select.select([here, there, 0], [], [], min(due) if due else None)
    for end in ready:
        if end == 0:
            line = os.read(0, 100).decode()
            if not line:
                sys.exit()
            delay, lost = float(line.split()[0]) / 1000, float(line.split()[1])
            print("ok", flush=True)
            continue
        try:
            while True:
                frame = os.read(end, 70000)
                if random.random() >= lost:
                    waiting[end].append((time.monotonic() + delay, frame))
        except BlockingIOError:
            pass
