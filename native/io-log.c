// Writes down, in order, everything that a process does to the files below STEMMA_IO_ROOT, so that
// the states can be rebuilt that a power cut might leave behind. The log is the file STEMMA_IO_LOG:
//
//   byte 0      kind (enum below)
//   bytes 4-7   number of the file, 0 where the record is about a name
//   bytes 8-15  offset of a write, length of a truncation
//   bytes 16-19 length of the first text, bytes 20-23 of the second; both follow
//
// A number stands for one file, whatever its name; a file that is made gets a new one. What is
// written to the file named STEMMA_IO_MARKS is a record of its own: what the process acknowledged.
// A memory map is not seen: the store maps its `-shm` alone, which means nothing after a cut.
//
// With STEMMA_IO_NO_SYNC the files of the database are never synced, as with `synchronous = OFF`: a
// run that a rig must notice.
#include "tracked.h"

enum kind {
  FILE_FOUND = 1, // an existing file was opened; the text is its name
  FILE_MADE = 2,  // a new file was made; the text is its name
  WRITE = 3,
  TRUNCATE = 4,
  SYNC = 5,
  SYNC_FOLDER = 6, // the text is the name of the folder
  LINK = 7,        // both texts
  RENAME = 8,      // both texts
  UNLINK = 9,
  MAKE_FOLDER = 10,
  REMOVE_FOLDER = 11,
  MARK = 12,
};

#define MARKS (-1)
#define FOLDER (-2)

struct known {
  dev_t device;
  ino_t inode;
};

static int log_file = -1;
static int file_of[MOST_DESCRIPTORS];
static char *folder_of[MOST_DESCRIPTORS];
static unsigned char is_unsynced[MOST_DESCRIPTORS];
static struct known *known;
static int known_count;

static void fail(const char *why) {
  fprintf(stderr, "io-log: %s: %s\n", why, strerror(errno));
  abort();
}

static void record(enum kind kind, int file, uint64_t at, const char *a, size_t la, const char *b,
                   size_t lb) {
  if (log_file < 0) {
    const char *name = getenv("STEMMA_IO_LOG");
    if (name == NULL) return;
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    log_file = (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
    if (log_file < 0) fail("cannot open the log");
  }
  unsigned char head[24] = {(unsigned char)kind};
  uint32_t lengths[2] = {(uint32_t)la, (uint32_t)lb};
  uint32_t number = (uint32_t)file;
  memcpy(head + 4, &number, 4);
  memcpy(head + 8, &at, 8);
  memcpy(head + 16, lengths, 8);
  struct iovec parts[3] = {{head, sizeof head}, {(void *)a, la}, {(void *)b, lb}};
  ssize_t wanted = (ssize_t)(sizeof head + la + lb);
  if (syscall(SYS_writev, log_file, parts, 3) != wanted) fail("cannot write the log");
}

static void record_name(enum kind kind, const char *a, const char *b) {
  record(kind, 0, 0, a, strlen(a), b, b == NULL ? 0 : strlen(b));
}

static int is_tracked(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS && file_of[fd] > 0;
}

static int is_marks(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS && file_of[fd] == MARKS;
}

// The number of an open file: the same for each descriptor of it.
static int number_of(const struct stat *stats, int is_new, const char *name) {
  for (int at = known_count - 1; at >= 0 && !is_new; at -= 1) {
    if (known[at].inode == stats->st_ino && known[at].device == stats->st_dev) return at + 1;
  }
  struct known *more = realloc(known, sizeof *known * (size_t)(known_count + 1));
  if (more == NULL) fail("no memory");
  known = more;
  known[known_count] = (struct known){stats->st_dev, stats->st_ino};
  known_count += 1;
  record_name(is_new ? FILE_MADE : FILE_FOUND, name, NULL);
  return known_count;
}

static void note_open(int fd, const char *path, int flags, int was_there) {
  const char *marks = getenv("STEMMA_IO_MARKS");
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return;
  file_of[fd] = 0;
  if (marks != NULL && strcmp(path, marks) == 0) {
    file_of[fd] = MARKS;
    return;
  }
  const char *name = below_root(path);
  struct stat stats;
  if (name == NULL || fstat(fd, &stats) != 0) return;
  if (S_ISDIR(stats.st_mode)) {
    free(folder_of[fd]);
    folder_of[fd] = strdup(name);
    file_of[fd] = FOLDER;
  } else if (S_ISREG(stats.st_mode)) {
    file_of[fd] = number_of(&stats, !was_there, name);
    is_unsynced[fd] = getenv("STEMMA_IO_NO_SYNC") != NULL && strstr(name, ".db") != NULL;
    if (was_there && (flags & O_TRUNC) != 0) record(TRUNCATE, file_of[fd], 0, NULL, 0, NULL, 0);
  }
}

static int open_tracked(const char *path, int flags, mode_t mode) {
  struct stat stats;
  pthread_mutex_lock(&lock);
  int was_there = lstat(path, &stats) == 0;
  int fd = NEXT(open64)(path, flags, mode);
  int saved = errno;
  note_open(fd, path, flags, was_there);
  pthread_mutex_unlock(&lock);
  errno = saved;
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
  pthread_mutex_lock(&lock);
  if (fd >= 0 && fd < MOST_DESCRIPTORS && fd != log_file) file_of[fd] = 0;
  pthread_mutex_unlock(&lock);
  return NEXT(close)(fd);
}

static void note_parts(int fd, uint64_t at, const struct iovec *parts, int count, ssize_t written) {
  size_t left = written < 0 ? 0 : (size_t)written;
  for (int part = 0; part < count && left > 0; part += 1) {
    size_t length = parts[part].iov_len < left ? parts[part].iov_len : left;
    enum kind kind = is_marks(fd) ? MARK : WRITE;
    record(kind, is_marks(fd) ? 0 : file_of[fd], at, parts[part].iov_base, length, NULL, 0);
    at += length;
    left -= length;
  }
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  if (!is_tracked(fd) && !is_marks(fd)) return NEXT(pwritev64)(fd, parts, count, at);
  pthread_mutex_lock(&lock);
  ssize_t written = NEXT(pwritev64)(fd, parts, count, at);
  int saved = errno;
  note_parts(fd, (uint64_t)at, parts, count, written);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  if (!is_tracked(fd) && !is_marks(fd)) return NEXT(pwrite64)(fd, bytes, length, at);
  struct iovec part = {(void *)bytes, length};
  return pwritev64(fd, &part, 1, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return pwrite64(fd, bytes, length, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (!is_tracked(fd) && !is_marks(fd)) return NEXT(writev)(fd, parts, count);
  pthread_mutex_lock(&lock);
  ssize_t written = NEXT(writev)(fd, parts, count);
  int saved = errno;
  if (written > 0) {
    uint64_t end = (uint64_t)lseek64(fd, 0, SEEK_CUR);
    note_parts(fd, end - (uint64_t)written, parts, count, written);
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return written;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (!is_tracked(fd) && !is_marks(fd)) return NEXT(write)(fd, bytes, length);
  struct iovec part = {(void *)bytes, length};
  return writev(fd, &part, 1);
}

int ftruncate64(int fd, off64_t length) {
  if (!is_tracked(fd)) return NEXT(ftruncate64)(fd, length);
  pthread_mutex_lock(&lock);
  int result = NEXT(ftruncate64)(fd, length);
  int saved = errno;
  if (result == 0) record(TRUNCATE, file_of[fd], (uint64_t)length, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static void note_sync(int fd) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return;
  if (file_of[fd] > 0 && !is_unsynced[fd]) record(SYNC, file_of[fd], 0, NULL, 0, NULL, 0);
  if (file_of[fd] == FOLDER) record_name(SYNC_FOLDER, folder_of[fd], NULL);
}

static int sync_tracked(int (*next)(int), int fd) {
  pthread_mutex_lock(&lock);
  int result = next(fd);
  int saved = errno;
  if (result == 0) note_sync(fd);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

int fsync(int fd) { return sync_tracked(NEXT(fsync), fd); }

int fdatasync(int fd) { return sync_tracked(NEXT(fdatasync), fd); }

static int name_tracked(int (*next)(const char *), enum kind kind, const char *path) {
  const char *name = below_root(path);
  if (name == NULL) return next(path);
  pthread_mutex_lock(&lock);
  int result = next(path);
  int saved = errno;
  if (result == 0) record_name(kind, name, NULL);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

int unlink(const char *path) { return name_tracked(NEXT(unlink), UNLINK, path); }

int rmdir(const char *path) { return name_tracked(NEXT(rmdir), REMOVE_FOLDER, path); }

int mkdir(const char *path, mode_t mode) {
  const char *name = below_root(path);
  if (name == NULL) return NEXT(mkdir)(path, mode);
  pthread_mutex_lock(&lock);
  int result = NEXT(mkdir)(path, mode);
  int saved = errno;
  if (result == 0) record_name(MAKE_FOLDER, name, NULL);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

static int pair_tracked(int (*next)(const char *, const char *), enum kind kind, const char *from,
                        const char *to) {
  const char *a = below_root(from);
  const char *b = below_root(to);
  if (a == NULL || b == NULL) return next(from, to);
  pthread_mutex_lock(&lock);
  int result = next(from, to);
  int saved = errno;
  if (result == 0) record_name(kind, a, b);
  pthread_mutex_unlock(&lock);
  errno = saved;
  return result;
}

int link(const char *from, const char *to) { return pair_tracked(NEXT(link), LINK, from, to); }

int rename(const char *from, const char *to) {
  return pair_tracked(NEXT(rename), RENAME, from, to);
}
