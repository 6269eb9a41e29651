//! Memory that runs out while a text is tokenized. Rust ends the process when an allocation fails, so each thread holds a reserve, which
//! the allocator gives up when there is nothing else: that call still completes, and the next is refused unless a reserve can be had again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// More than a call takes: 27 MB for the longest piece of a text, 64 KiB of punctuation, in WordPiece. The C library maps a block of this
/// size by itself (as of 32 MiB), so until it is given up it is addresses alone, and what is given up is there for every thread.
const LAYOUT: Layout = match Layout::from_size_align(64 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

struct Reserve(Cell<*mut u8>);

impl Reserve {
    fn hold(&self) -> bool {
        if self.0.get().is_null() {
            // SAFETY: the size is not zero.
            self.0.set(unsafe { System.alloc(LAYOUT) });
        }
        !self.0.get().is_null()
    }

    fn give_up(&self) {
        let block = self.0.replace(ptr::null_mut());
        if !block.is_null() {
            // SAFETY: `hold` got it with this layout, and nobody else has it.
            unsafe { System.dealloc(block, LAYOUT) };
        }
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        self.give_up();
    }
}

thread_local! {
    static RESERVE: Reserve = const { Reserve(Cell::new(ptr::null_mut())) };
}

/// Whether this thread has its reserve, after trying to get it.
pub fn hold() -> bool {
    RESERVE.with(Reserve::hold)
}

fn or_from_reserve(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let block = allocate();
    if !block.is_null() {
        return block;
    }
    let _ = RESERVE.try_with(Reserve::give_up); // a thread that is ending has none
    allocate()
}

struct Reserving;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

// SAFETY: as the system's, which does the work; a failed realloc leaves the old block as it was.
unsafe impl GlobalAlloc for Reserving {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_from_reserve(|| System.alloc(layout))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_from_reserve(|| System.alloc_zeroed(layout))
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        or_from_reserve(|| System.realloc(block, layout, size))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout)
    }
}
