/*
 * What the launcher needs of a C library, straight from the kernel: a static one is 700 KB, has to be mapped with every
 * fork, and comes with its own licence. The functions have the names and meanings of POSIX, so that the rest of the
 * program can be read, or built, with any C library; the headers are those of the compiler's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

enum { KERNEL_SIGSET_BYTES = 8 };

static int last_error;
int *__errno_location(void) { return &last_error; }

#if defined(__x86_64__)

__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n and $-16,%rsp\n call run_main\n");
/* The kernel of this machine returns from a handler only by way of the program. */
__asm__("return_from_signal:\n mov $15,%eax\n syscall\n");
void return_from_signal(void);
enum { HAS_RESTORER = 0x04000000 };

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

__asm__(".globl _start\n_start:\n mov x29,#0\n mov x30,#0\n b run_main\n");
static void return_from_signal(void) {}
enum { HAS_RESTORER = 0 };

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

#else
#error "the launcher is for x86-64 and arm64"
#endif

static long called(long result) {
  if (result >= 0 || result < -4095) return result;
  last_error = -result;
  return -1;
}

#define CALL6(number, a, b, c, d, e, f) \
  called(kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL5(number, a, b, c, d, e) CALL6(number, a, b, c, d, e, 0)
#define CALL4(number, a, b, c, d) CALL6(number, a, b, c, d, 0, 0)
#define CALL3(number, a, b, c) CALL6(number, a, b, c, 0, 0, 0)
#define CALL2(number, a, b) CALL6(number, a, b, 0, 0, 0, 0)
#define CALL1(number, a) CALL6(number, a, 0, 0, 0, 0, 0)

int main(void);
__attribute__((used, noreturn)) void run_main(void) { _exit(main()); }

_Noreturn void _exit(int status) {
  for (;;) CALL1(SYS_exit_group, status);
}

ssize_t read(int fd, void *to, size_t size) { return CALL3(SYS_read, fd, to, size); }
ssize_t write(int fd, const void *from, size_t size) { return CALL3(SYS_write, fd, from, size); }
int close(int fd) { return CALL1(SYS_close, fd); }
int dup2(int from, int to) { return CALL3(SYS_dup3, from, to, 0); }
int pipe2(int ends[2], int flags) { return CALL2(SYS_pipe2, ends, flags); }
int chdir(const char *folder) { return CALL1(SYS_chdir, folder); }
int stat(const char *restrict file, struct stat *restrict info) {
  return CALL4(SYS_newfstatat, AT_FDCWD, file, info, 0);
}

int open(const char *file, int flags, ...) { return CALL4(SYS_openat, AT_FDCWD, file, flags, 0); }

/* The one argument of these is a number or an address: as wide as a register on both machines. */
static long next_argument(va_list arguments) { return va_arg(arguments, long); }

int fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  long argument = next_argument(more);
  va_end(more);
  return CALL3(SYS_fcntl, fd, command, argument);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  long argument = next_argument(more);
  va_end(more);
  return CALL3(SYS_ioctl, fd, request, argument);
}

int prctl(int option, ...) {
  va_list more;
  va_start(more, option);
  long argument = next_argument(more);
  va_end(more);
  return CALL5(SYS_prctl, option, argument, 0, 0, 0);
}

pid_t fork(void) { return CALL5(SYS_clone, SIGCHLD, 0, 0, 0, 0); }
pid_t getpid(void) { return CALL1(SYS_getpid, 0); }
pid_t getpgid(pid_t pid) { return CALL1(SYS_getpgid, pid); }
int setpgid(pid_t pid, pid_t group) { return CALL2(SYS_setpgid, pid, group); }
int kill(pid_t pid, int signal) { return CALL2(SYS_kill, pid, signal); }
int execve(const char *file, char *const argv[], char *const env[]) { return CALL3(SYS_execve, file, argv, env); }
int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
  return CALL5(SYS_waitid, type, id, info, options, NULL);
}
pid_t wait4(pid_t pid, int *status, int options, struct rusage *used) {
  return CALL4(SYS_wait4, pid, status, options, used);
}
pid_t waitpid(pid_t pid, int *status, int options) { return wait4(pid, status, options, NULL); }
int nanosleep(const struct timespec *asked, struct timespec *left) { return CALL2(SYS_nanosleep, asked, left); }

int epoll_create1(int flags) { return CALL1(SYS_epoll_create1, flags); }
int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
  return CALL4(SYS_epoll_ctl, set, operation, fd, event);
}
int epoll_pwait(int set, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
  return CALL6(SYS_epoll_pwait, set, events, most, timeout, mask, KERNEL_SIGSET_BYTES);
}

int sigemptyset(sigset_t *set) {
  memset(set, 0, sizeof *set);
  return 0;
}

int sigaddset(sigset_t *set, int signal) {
  *(unsigned long *)set |= 1UL << (signal - 1);
  return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before) {
  return CALL4(SYS_rt_sigprocmask, how, set, before, KERNEL_SIGSET_BYTES);
}

int sigaction(int signal, const struct sigaction *restrict wanted, struct sigaction *restrict before) {
  (void)before;
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {wanted->sa_handler, wanted->sa_flags | HAS_RESTORER, return_from_signal, 0};
  return CALL4(SYS_rt_sigaction, signal, &action, NULL, KERNEL_SIGSET_BYTES);
}

/* Memory: blocks of sizes that are powers of two, each with its size before it; those that are free are used again. */
enum { SIZE_BYTES = 16, SMALLEST = 6, LARGEST = 40, ARENA_BYTES = 1 << 18 };
static void *free_blocks[LARGEST + 1];
static char *arena, *arena_end;

static char *take_pages(size_t size) {
  long address = CALL6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address == -1 ? NULL : (char *)address;
}

static char *take_block(size_t size) {
  if (size > ARENA_BYTES / 4) return take_pages(size);
  if ((size_t)(arena_end - arena) < size) {
    char *pages = take_pages(ARENA_BYTES);
    if (!pages) return NULL;
    arena = pages;
    arena_end = pages + ARENA_BYTES;
  }
  char *block = arena;
  arena += size;
  return block;
}

void *malloc(size_t wanted) {
  int order = SMALLEST;
  while (order < LARGEST && ((size_t)1 << order) < wanted + SIZE_BYTES) order++;
  char *block = free_blocks[order];
  if (block) free_blocks[order] = *(void **)(block + SIZE_BYTES);
  else block = take_block((size_t)1 << order);
  if (!block) return NULL;
  *(long *)block = order;
  return block + SIZE_BYTES;
}

void free(void *memory) {
  if (!memory) return;
  char *block = (char *)memory - SIZE_BYTES;
  long order = *(long *)block;
  if (((size_t)1 << order) > ARENA_BYTES / 4) {
    CALL2(SYS_munmap, block, (size_t)1 << order);
    return;
  }
  *(void **)memory = free_blocks[order];
  free_blocks[order] = block;
}

void *calloc(size_t count, size_t size) {
  void *memory = malloc(count * size);
  if (memory) memset(memory, 0, count * size);
  return memory;
}

void *realloc(void *old, size_t size) {
  if (!old) return malloc(size);
  size_t held = ((size_t)1 << *(long *)((char *)old - SIZE_BYTES)) - SIZE_BYTES;
  if (size <= held) return old;
  void *memory = malloc(size);
  if (!memory) return NULL;
  memcpy(memory, old, held);
  free(old);
  return memory;
}

/* The compiler calls these of itself. */
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  char *target = to;
  const char *source = from;
  while (size--) *target++ = *source++;
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  char *target = to;
  const char *source = from;
  if (target <= source) return memcpy(to, from, size);
  while (size--) target[size] = source[size];
  return to;
}

void *memset(void *to, int byte, size_t size) {
  for (char *target = to; size--;) *target++ = byte;
  return to;
}

size_t strlen(const char *text) {
  size_t size = 0;
  while (text[size]) size++;
  return size;
}

int strncmp(const char *one, const char *other, size_t size) {
  for (; size--; one++, other++)
    if (*one != *other || !*one) return (unsigned char)*one - (unsigned char)*other;
  return 0;
}

size_t strcspn(const char *text, const char *stops) {
  size_t size = 0;
  while (text[size] && !strchr(stops, text[size])) size++;
  return size;
}

char *strchr(const char *text, int wanted) {
  for (; *text; text++)
    if (*text == (char)wanted) return (char *)text;
  return NULL;
}

char *stpcpy(char *restrict to, const char *restrict from) {
  while ((*to = *from++)) to++;
  return to;
}
