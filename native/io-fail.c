// Fails the Nth write or sync of the files below STEMMA_IO_ROOT, once or from then on. What fails
// is said by the file STEMMA_IO_CONTROL, which the process maps and its owner may change at any
// time: little-endian numbers of four bytes each, in the order of `struct control`.
#include "tracked.h"

enum place { ELSEWHERE = 0, MAIN_FILE = 1, LOG_FILE = 2 };

struct control {
  uint32_t is_armed;
  uint32_t nth;       // the call that fails, counted from 1 since `calls` was last cleared
  uint32_t error;     // errno of the failure
  uint32_t is_sticky; // 1: each later call fails too
  uint32_t calls;     // writes and syncs since it was cleared
  uint32_t failed_writes;
  uint32_t failed_syncs_of[3]; // by place
};

static unsigned char place_of[MOST_DESCRIPTORS]; // place + 1; 0: not below the root

static struct control *control(void) {
  static struct control *mapped;
  if (mapped != NULL) return mapped;
  const char *name = getenv("STEMMA_IO_CONTROL");
  int fd = name == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
  if (fd < 0) return NULL;
  void *memory = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (memory == MAP_FAILED) abort();
  mapped = memory;
  return mapped;
}

static int is_tracked(int fd) { return fd >= 0 && fd < MOST_DESCRIPTORS && place_of[fd] != 0; }

static int ends_with(const char *name, const char *ending) {
  size_t length = strlen(name), wanted = strlen(ending);
  return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

static enum place place_named(const char *name) {
  if (ends_with(name, ".db")) return MAIN_FILE;
  return ends_with(name, ".db-wal") ? LOG_FILE : ELSEWHERE;
}

static int open_tracked(const char *path, int flags, mode_t mode) {
  int fd = NEXT(open64)(path, flags, mode);
  const char *name = below_root(path);
  if (fd >= 0 && fd < MOST_DESCRIPTORS) {
    place_of[fd] = name == NULL ? 0 : (unsigned char)(place_named(name) + 1);
  }
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_tracked(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_tracked(path, flags, mode);
}

int close(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) place_of[fd] = 0;
  return NEXT(close)(fd);
}

// The errno with which this call is to fail, 0 where it is to be done.
static int failure(int fd, int is_sync) {
  if (!is_tracked(fd)) return 0;
  struct control *now = control();
  if (now == NULL || now->is_armed == 0) return 0;
  pthread_mutex_lock(&lock);
  now->calls += 1;
  int fails = now->calls == now->nth || (now->is_sticky != 0 && now->calls > now->nth);
  if (fails && is_sync) now->failed_syncs_of[place_of[fd] - 1] += 1;
  if (fails && !is_sync) now->failed_writes += 1;
  pthread_mutex_unlock(&lock);
  return fails ? (int)now->error : 0;
}

#define FAIL_IF_CHOSEN(fd, is_sync)                                                                \
  do {                                                                                             \
    int error = failure(fd, is_sync);                                                              \
    if (error != 0) {                                                                              \
      errno = error;                                                                               \
      return -1;                                                                                   \
    }                                                                                              \
  } while (0)

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  FAIL_IF_CHOSEN(fd, 0);
  return NEXT(pwrite64)(fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  FAIL_IF_CHOSEN(fd, 0);
  return NEXT(pwrite)(fd, bytes, length, at);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  FAIL_IF_CHOSEN(fd, 0);
  return NEXT(write)(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  FAIL_IF_CHOSEN(fd, 0);
  return NEXT(writev)(fd, parts, count);
}

int fsync(int fd) {
  FAIL_IF_CHOSEN(fd, 1);
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  FAIL_IF_CHOSEN(fd, 1);
  return NEXT(fdatasync)(fd);
}
