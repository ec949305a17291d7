# Part of the Python kernel's driver: cells that await at their top.
#
# All statements of such a cell run in one task, so that what one of them starts another can
# await. The loop lives on between cells but does not run between them: it has no thread.
import asyncio
from _signal import SIGINT, default_int_handler, getsignal, signal

loop = None


async def run_all(codes):
    value = None
    for code in driver.cells.steps(codes):
        value = eval(code, driver.cells.module.__dict__)
        if code.co_flags & driver.COROUTINE:
            value = await value
    return value


def run(name, codes):
    global loop
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    own = getsignal(SIGINT) is not default_int_handler
    awaited, task, interrupted = run_all(codes), None, False

    def interrupt(number, frame):
        # Raised only in the cell's own code: amid the loop's it would lose what is due.
        nonlocal interrupted
        while frame is not None:
            if frame.f_code.co_filename == name:
                raise KeyboardInterrupt
            frame = frame.f_back
        interrupted = True

    def cancel():
        # The loop may tell only now of an interrupt that was raised in an earlier cell.
        if interrupted:
            task.cancel()

    try:
        task = loop.create_task(awaited)
        if not own:
            loop.add_signal_handler(SIGINT, cancel)
            signal(SIGINT, interrupt)
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        if interrupted:
            raise KeyboardInterrupt
        raise
    finally:
        if task is None:
            awaited.close()
        elif not task.done():
            # An interrupt came before it began, or amid another task: it ends, without a word,
            # when the loop runs again.
            task._log_destroy_pending = False
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
            task.cancel()
        left = getsignal(SIGINT)
        if not own and not loop.is_closed():
            loop.remove_signal_handler(SIGINT)
        # A handler that the code set meanwhile is its own to keep.
        signal(SIGINT, default_int_handler if left in (None, interrupt) else left)
