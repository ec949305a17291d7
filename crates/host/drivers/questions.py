# Part of the Python kernel's driver: `input()` and `getpass()`, which ask the person.
#
# The answer comes on the control socket, where cells come too. It is read by whoever asked, one
# at a time, and never while the driver waits for a cell. Standard input stays empty.
from _signal import SIG_SETMASK, pthread_sigmask, valid_signals
from _thread import allocate_lock
from fcntl import F_DUPFD_CLOEXEC, fcntl
from os import close, pipe, read, set_blocking, write
from select import POLLIN, poll

asking = allocate_lock()


def high(descriptor):
    """Out of the way of code that uses low descriptors itself."""
    moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 41)
    close(descriptor)
    set_blocking(moved, False)
    return moved


# Tells a thread that waits for an answer that its cell has ended.
ended, end_it = map(high, pipe())


def ask(prompt, secret):
    control = driver.control
    driver.flush()
    with asking:
        if control.descriptor is None:
            raise RuntimeError("a forked process cannot ask; ask in the kernel's own process")
        if not driver.cells.running:
            raise RuntimeError("nobody can be asked when no cell runs; ask while one does")
        control.claim("asks", f'"prompt":{driver.quote(str(prompt))},"secret":{secret}')
        wait(control)
        # No signal may end it in the middle: the rest would be taken for a cell.
        mask = pthread_sigmask(SIG_SETMASK, valid_signals())
        try:
            sign, answer = control.receive()
        finally:
            pthread_sigmask(SIG_SETMASK, mask)
    if sign == b"-":
        raise EOFError("EOF when reading a line")
    return answer.decode("utf-8", "replace")


def wait(control):
    """Until there is an answer to read, or an interrupt raises."""
    waiting = poll()
    waiting.register(control.descriptor, POLLIN)
    waiting.register(ended, POLLIN)
    if not control.received and ended in dict(waiting.poll()):
        raise RuntimeError("the cell ended before the question was answered")


def end():
    """At the end of a cell: whoever still waits for an answer waits no longer."""
    if asking.locked():
        write(end_it, b".")
        with asking:
            try:
                read(ended, 4096)
            except BlockingIOError:
                pass


def getpass(prompt="Password: ", stream=None, *, echo_char=None):
    """Asks the person for a line that is not to be seen."""
    return ask(prompt, "true")
