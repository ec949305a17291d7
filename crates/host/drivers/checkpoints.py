# Part of the Python kernel's driver: copies of the kernel's memory, to go back to.
#
# A copy is a forked process that sleeps. It shares every page with the kernel until one of them
# writes to it, so it costs little until it is needed. It is forked twice and so becomes a child of
# the host: code that waits for its own children never meets it, and the host learns of its death.
# It has a process group of its own, so an interrupt does not reach it.
#
# The host wakes it once the kernel is dead. It then makes a copy of itself, to be gone back to once
# more, and goes on as the kernel. Only the host's signal counts: a process can send any signal, but
# not in the name of another.
#
# A copy that sleeps must be what the kernel was, whatever later cells do. They run as the same
# user, so they could open its memory in `/proc` and write there. So a copy is not dumpable, and
# neither is the kernel for the moment of the fork: there is no time at which one that can be opened
# is there. Without that it is not copied. A woken copy is dumpable again, as any kernel.
#
# A fork shares memory that was mapped to be shared, so later cells would change what the copy has.
# The kernel keeps its contents before the fork, and a copy that was woken puts them back: by then
# nothing else that shares it is left. Where that cannot be done, as with files that are mapped,
# there is no copy. To look for such memory takes longer than all the rest that the kernel waits
# for, so the kernel looks when its memory has changed in size, and now and then; the copy looks
# every time, and is none if it shares memory that was not kept.
#
# Not in a copy: threads, the other ends of sockets, what is in pipes and the system's counters,
# programs that were started. The position in an open file is shared with the kernel. The copy
# counts them in its claim.
from _signal import SIG_DFL, SIG_SETMASK, SIGCHLD, SIGCONT
from _signal import getsignal, pthread_sigmask, sigtimedwait, sigwaitinfo, valid_signals
from os import O_RDONLY, O_RDWR, O_WRONLY, ST_RDONLY, access, close, geteuid, open as open_file
from os import _exit, fork, getpid, getppid, listdir, pread, pwrite, read, setpgid, stat, statvfs
from os import waitpid

sys, modules, control = driver.sys, driver.modules, driver.control
ENDED_FIRST = "/proc/self/oom_score_adj"
DUMPABLE, IS_DUMPABLE = 4, 3  # Of prctl: to set it, and to ask.
TURN = 0.0002  # Seconds.
MOST_SHARED = 16 << 20  # Bytes of shared memory that are kept.
PIECE = 1 << 20
SYSTEM = (b"/usr/", b"/lib", b"/etc/", b"/opt/", b"/nix/")  # Read-only in every sandbox.
LOOKED_AT = 16  # Copies, of which the kernel looks for shared memory before one at least.
left = None  # The process between the kernel and its copy: to be buried.


def take(number):
    """Makes a copy. Returns in the kernel, and in a copy when it has become the kernel."""
    if driver.cells.running:
        return refuse(number, "it is running code")
    while copy(number):
        pass


def refuse(number, reason):
    control.claim("not_checkpointed", f'"number":{number},"reason":{driver.quote(reason)}')


class Unshared:
    """What the kernel saw when it last shared no memory."""

    size, copies = None, 0


def copy(number):
    """Whether this process is a copy that was woken."""
    global left
    bury()
    kernel, numbers, threads = getpid(), random_state(), len(sys._current_frames()) - 1
    handled = getsignal(SIGCHLD) is not SIG_DFL
    mask = pthread_sigmask(SIG_SETMASK, valid_signals())
    control.shared = True
    before = give_way()
    try:
        shared, kept = kept_memory()
        shut()
        born = quiet_fork()
    except Exception as error:
        open_again(before)
        control.shared = False
        pthread_sigmask(SIG_SETMASK, mask)
        refuse(number, f"it cannot be copied: {error}")
        return False
    if born:
        open_again(before)
        control.shared = False
        left = born
        if handled:
            # The end of our own process is no news for the code's handler.
            bury()
            sigtimedwait([SIGCHLD], 0)
        pthread_sigmask(SIG_SETMASK, mask)
        return False
    try:
        between = getpid()
        if fork():
            _exit(0)
        sleep(number, kernel, between, threads, shared)
        open_again(before)
        put_back(kept)
        control.shared = False
        # It may hold the beginning of what the kernel read on its own.
        control.received.clear()
        left = None
        if numbers is not None:
            # The module seeds itself anew in every forked process.
            modules["random"].setstate(numbers)
    except BaseException as error:
        refuse(number, f"it cannot be copied: {error}")
        _exit(1)
    pthread_sigmask(SIG_SETMASK, mask)
    return True


def kept_memory():
    """The addresses of all memory that a fork would share, and its contents."""
    size = memory_size()
    if size is not None and size == Unshared.size and Unshared.copies < LOOKED_AT:
        Unshared.copies += 1
        return [], []
    ranges = shared_memory()
    Unshared.size, Unshared.copies = None if ranges else size, 1
    return ranges, read_all(ranges) if ranges else []


def memory_size():
    """The size of all memory and of what of it may be shared, as the system writes them."""
    try:
        file = open_file("/proc/self/statm", O_RDONLY)
        try:
            fields = read(file, 200).split()
        finally:
            close(file)
        return fields[0], fields[2]
    except (OSError, IndexError):
        return None


def shared_memory():
    """The addresses of all memory that a fork would share."""
    ranges, total = [], 0
    with open("/proc/self/maps", "rb") as file:
        lines = file.read().splitlines()
    for line in lines:
        at = line.find(b" ")
        if line[at + 4 : at + 5] != b"s":
            continue
        path = line.split(None, 5)[5:]
        path = path[0] if path else b""
        is_file = path[:1] == b"/" and not path.endswith(b" (deleted)")
        if is_file and not path.startswith(b"/dev/"):
            if line[at + 2 : at + 3] != b"w" and is_fixed(path):
                continue
            raise OSError("it has a file mapped into its memory")
        if line[at + 1 : at + 3] != b"rw":
            raise OSError("it shares memory that it cannot put back")
        start, end = (int(one, 16) for one in line[:at].split(b"-"))
        ranges.append((start, end))
        total += end - start
    if total > MOST_SHARED:
        raise OSError(f"it shares more than {MOST_SHARED >> 20} MiB of memory")
    return ranges


def is_fixed(path):
    """Whether nothing inside can change this file."""
    if path.startswith(SYSTEM):
        return True
    try:
        if statvfs(path).f_flag & ST_RDONLY:
            return True
        return stat(path).st_uid != geteuid() and not access(path, 2)
    except OSError:
        return False


def read_all(ranges):
    memory = open_file("/proc/self/mem", O_RDONLY)
    try:
        kept = []
        for start, end in ranges:
            while start < end:
                piece = pread(memory, min(end - start, PIECE), start)
                if not piece:
                    raise OSError("it shares memory that is not there")
                kept.append((start, piece))
                start += len(piece)
        return kept
    finally:
        close(memory)


def put_back(kept):
    """Gives shared memory the contents that it had. What cannot be put back ends this copy."""
    if not kept:
        return
    memory = open_file("/proc/self/mem", O_WRONLY)
    try:
        for start, piece in kept:
            if pwrite(memory, piece, start) != len(piece):
                raise OSError("its shared memory is gone")
    finally:
        close(memory)


def quiet_fork():
    """Forks. With threads Python advises against it; the claim tells of them."""
    if sys.version_info < (3, 12) or len(sys._current_frames()) == 1:
        return fork()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fork()


def random_state():
    try:
        return modules["random"].getstate()
    except Exception:
        return None  # It is not loaded, or the code put something else in its place.


def bury():
    """Buries what stood between the kernel and its copy, before code can meet it."""
    global left
    if left is not None:
        try:
            waitpid(left, 0)
        except ChildProcessError:
            pass  # The code ignores the ends of children, or waited for all of them.
        left = None


def sleep(number, kernel, between, threads, shared):
    """Says that this copy is there, and returns when the host wakes it."""
    setpgid(0, 0)
    control.lock = driver.RLock()  # A thread that is not here may hold the other.
    if shared_memory() != shared:
        raise OSError("it shares memory that was not kept")
    every = count_threads(kernel)
    if every > threads and has_openmp():
        refuse(number, "threads of OpenMP are running, which no copy of a process survives")
        _exit(0)
    # One that was there at the fork may have ended since, and changed what this copy does not have.
    every = max(every, threads)
    sockets, files = count_open()
    programs = count_programs(kernel, between)
    # It ends at once, or as soon as it gets a turn. Until then this is no child of the host, which
    # goes back to nothing else.
    while getppid() == between:
        sigtimedwait([], TURN)
    control.claim(
        "checkpointed",
        f'"number":{number},"process":{getpid()},"threads":{every},"sockets":{sockets}'
        f',"files":{files},"programs":{programs}',
    )
    while True:
        signal = sigwaitinfo([SIGCONT])
        if signal.si_code == 0 and signal.si_pid == getppid():
            break
    # Signals of undone cells are no news for the code's handlers, and must not end it.
    while sigtimedwait(valid_signals(), 0):
        pass


def prctl(option, value):
    """The call of that name. The module `ctypes` takes four times as long to load."""
    import _ctypes

    address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")
    return _ctypes.call_function(address, (option, value, 0, 0, 0))


def shut():
    """From here on nothing but the system can open the memory of this process, nor that of a copy."""
    try:
        done = prctl(DUMPABLE, 0) == 0 and prctl(IS_DUMPABLE, 0) == 0
    except Exception as error:
        raise OSError(f"its memory cannot be shut off: {error}") from None
    if not done:
        raise OSError("its memory cannot be shut off")


def open_again(before):
    """Undoes that, and what gave way. Where it cannot, it stays as it is, which harms nothing."""
    try:
        prctl(DUMPABLE, 1)
    except Exception:
        pass
    if before is not None:
        try:
            file = open_file(ENDED_FIRST, O_WRONLY)
            try:
                pwrite(file, before, 0)
            finally:
                close(file)
        except OSError:
            pass


def give_way():
    """Where memory runs out, a copy ends before the kernel does. A copy has it from the kernel, because
    it cannot open the file itself. Gives what undoes it."""
    try:
        file = open_file(ENDED_FIRST, O_RDWR)
        try:
            before = read(file, 20)
            pwrite(file, b"1000", 0)
        finally:
            close(file)
        return before
    except OSError:
        return None  # The system does not allow it.


def count_threads(kernel):
    """Threads that the kernel has beside the first. Libraries that can be forked have ended theirs
    by now, and start them again when they need them."""
    try:
        return max(len(listdir(f"/proc/{kernel}/task")) - 1, 0)
    except OSError:
        return 0


def has_openmp():
    try:
        with open("/proc/self/maps") as file:
            return any("libgomp" in line for line in file)
    except OSError:
        return False


def own():
    """Descriptors of the driver."""
    yield control.descriptor
    loop = getattr(driver.parts.get("awaiting"), "loop", None)
    for name in ("_ssock", "_csock", "_selector"):
        try:
            yield getattr(loop, name).fileno()
        except Exception:
            pass  # There is no loop, or it is of another kind.


def count_open():
    """Sockets, and pipes and counters that hold what was put into them since; and files."""
    sockets, files, ours = 0, 0, set(own())
    try:
        numbers = [int(name) for name in listdir("/proc/self/fd")]
    except OSError:
        return 0, 0
    for number in numbers:
        try:
            kind = driver.fstat(number).st_mode >> 12
        except OSError:
            continue  # The one by which they were listed.
        if number > 2 and number not in ours:
            sockets += kind in (0o14, 0o1, 0)  # The system's own, such as eventfd, have no kind.
            files += kind == 0o10
    return sockets, files


def count_programs(kernel, between):
    """Children of the kernel, but for the one in between."""
    found = set()
    try:
        for task in listdir(f"/proc/{kernel}/task"):
            with open(f"/proc/{kernel}/task/{task}/children") as file:
                found.update(file.read().split())
    except OSError:
        pass
    found.discard(str(between))
    return len(found)
