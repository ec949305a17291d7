//! Files that whoever started the program had open: descriptor 9 is a secret.

use super::{
    Attack,
    Control::Plain,
    Evidence::Canary,
    Language::{JavaScript, Python, Shell},
};

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        2,
        "reads_an_inherited_file",
        Python,
        Canary,
        "for number in range(3, 256):\n\
         \x20 try: print(os.pread(number, 999, 0))\n\
         \x20 except OSError: pass",
    )
    .control(Plain),
    Attack::new(
        2,
        "reads_an_inherited_file_by_its_path",
        Shell,
        Canary,
        "for number in $(ls /proc/self/fd /proc/$PPID/fd); do
  for pid in self $PPID 1; do
    [ -f /proc/$pid/fd/$number ] && timeout 2 cat /proc/$pid/fd/$number
  done
done",
    )
    .control(Plain),
    Attack::new(
        2,
        "reads_an_inherited_file_with_javascript",
        JavaScript,
        Canary,
        "for (let number = 3; number < 256; number++) {
  try {
    const buffer = Buffer.alloc(999);
    const size = require('fs').readSync(number, buffer, 0, 999, 0);
    console.log(buffer.toString('latin1', 0, size));
  } catch {}
}",
    )
    .control(Plain),
];
