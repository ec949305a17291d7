//! Calls that programs rarely need and that attacks on the kernel begin with.

use super::{Attack, Control::OwnNamespaces, Evidence::Printed, Language::Python};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        7,
        "traces_a_process",
        Python,
        Printed,
        r"
refused(101, 16, os.getppid(), 0, 0)
refused(101, 0x4206, 0, 0, 0)
refused(310, os.getppid(), 0, 0, 0, 0, 0)
refused(311, os.getppid(), 0, 0, 0, 0, 0)
refused(438, 0, 0, 0)
refused(312, os.getpid(), 1, 0, 0, 0)
",
    ),
    Attack::new(
        7,
        "reaches_rare_kernel_code",
        Python,
        Printed,
        r"
for number in (425, 426, 427, 321, 298, 323, 300):
    refused(number, 0, 0, 0, 0, 0)
refused(135, 0x0040000)
refused(172, 3)
refused(173, 0, 1, 1)
refused(154, 0, ctypes.create_string_buffer(16), 16)
",
    ),
    Attack::new(
        7,
        "speaks_another_architecture",
        Python,
        Printed,
        r"
import mmap, platform
if platform.machine() == 'x86_64':
    # getpid, as 32-bit programs ask for it.
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(bytes.fromhex('b814000000cd80c3'))
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    child = os.fork()
    if child == 0:
        call()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != 31:
        print('ESCAPED', status)
    refused(0x40000000 | 101, 0, 0, 0, 0)
",
    ),
    Attack::new(
        7,
        "makes_a_ring",
        Python,
        Printed,
        "refused(425, 8, ctypes.create_string_buffer(120))",
    ),
    Attack::new(7, "handles_page_faults", Python, Printed, "refused(323, 1)"),
    Attack::new(
        7,
        "loads_a_program_into_the_kernel",
        Python,
        Printed,
        "refused(321, 0, ctypes.create_string_buffer(120), 5000)",
    ),
    Attack::new(
        7,
        "reads_kernel_keyrings",
        Python,
        Printed,
        r"
refused(250, 0, -3, 0, 0, 0)
refused(248, b'user', b'x', b'y', 1, -3)
refused(249, b'user', b'x', 0, 0)
",
    ),
    Attack::new(7, "opens_by_handle", Python, Printed, "refused(304, 3, 0, 0)"),
    // Without rights: what says that the kernel would do it is that the arguments were looked at.
    Attack::new(
        7,
        "administers_the_system",
        Python,
        Printed,
        r"
for number in (179, 443, 246, 320, 175, 313, 176, 169, 167, 168, 163, 103, 170, 171, 164, 227, 153):
    refused(number, 0, 0, 0, 0)
",
    ),
    Attack::new(
        7,
        "opens_rare_sockets",
        Python,
        Printed,
        r"
for family in (3, 4, 5, 9, 17, 21, 29, 30, 38, 40, 44):
    refused(41, family, 2, 0)
    refused(41, family, 3, 0)
    refused(53, family, 1, 0, ctypes.create_string_buffer(8))
for family in (2, 10):
    refused(41, family, 3, 255)
    refused(41, family, 3 | 0o2000000, 1)
for protocol in (4, 6, 9, 10, 12, 15, 16, 21):
    refused(41, 16, 3, protocol)
for family in (2, 10):
    refused(41, family, 2, 136)
    refused(41, family, 1, 262)
",
    ),
    Attack::new(
        7,
        "uses_calls_that_other_profiles_refuse",
        Python,
        Printed,
        r"
import mmap
page = mmap.mmap(-1, 4096)
page[0] = 1
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
room = ctypes.create_string_buffer(256)
refused(237, at, 4096, 0, 0, 0, 0)
refused(238, 0, 0, 0)
refused(450, at, 4096, 0, 0)
refused(239, room, 0, 0, 0, 0)
refused(256, 0, 8, room, room)
refused(279, 0, 1, ctypes.byref(ctypes.c_void_p(at)), 0, room, 0)
refused(139, 3)
refused(136, 0, room)
refused(459, 100, room, ctypes.byref(ctypes.c_uint(256)), 0)
refused(460, 100, room, 32, 0)
refused(461, room, ctypes.byref(ctypes.c_uint(256)), 0)
refused(447, 0)
ring = ctypes.c_ulong(0)
refused(206, 1, ctypes.byref(ring))
for number in (207, 208, 209, 210, 333):
    refused(number, ring.value, 0, 0, 0, 0, 0)
",
    ),
    Attack::new(
        7,
        "reads_raw_packets",
        Python,
        Printed,
        "import socket\nfor family, protocol in ((17, 0x300), (2, 1), (10, 58)):\n\
         \x20 try: print('ESCAPED', socket.socket(family, socket.SOCK_RAW, protocol))\n\
         \x20 except OSError: pass",
    )
    .control(OwnNamespaces),
];
