/*
 * The launcher: a small program that starts processes for the engine. It holds mechanism only; when to send which signal
 * is decided in src/run/process/group-ending.ts, and the messages are described in launcher-protocol.ts beside it.
 *
 * - Each job has a process group and two pipes of its own. What the job prints is relayed in frames, so that no marker can
 *   be forged or be mistaken for one.
 * - A job is over when its main process has been reaped and its group is empty. What a process that left the group still
 *   writes goes nowhere: the pipes are closed.
 * - When the engine goes away, the command pipe ends and every group is killed. When this program is killed, the kernel
 *   kills the main process of every job.
 */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHUNK_BYTES = 65536, ENDS = 2, REFUSED_EXIT = 127 };

/* Who wants to know about a file descriptor. */
enum source_kind { SOURCE_COMMANDS, SOURCE_STDOUT, SOURCE_STDERR, SOURCE_STDIN, SOURCE_TOLD };

struct job;

struct source {
  enum source_kind kind;
  int fd; /* -1: closed */
  struct job *job;
};

/* What a process failed at before it ran. */
enum stage { STAGE_FORK, STAGE_FOLDER, STAGE_EXEC };

/* What a child that cannot run says on a pipe before it exits with REFUSED_EXIT. */
struct refusal {
  uint32_t id;
  int error; /* 0: none */
  enum stage stage;
};

struct usage {
  uint64_t cpu_us;
  uint64_t peak_kib;
  uint64_t blocks_read, blocks_written; /* of 512 bytes */
};

/* A process that leads a group: of a job, or a waiting shell, which has a job (`id`) at times. */
struct job {
  uint32_t id; /* 0: a shell that waits */
  pid_t pid;
  int is_shell, is_reaped, lingers, was_signaled;
  int status;
  struct usage usage;
  struct source out, err, in, told;
  int out_writer, err_writer; /* kept open, so that the end of a process is told once, by its signal */
  char *text;                 /* what is left to be read by the process */
  size_t text_at, text_size;
  struct refusal refusal;
  struct job *next;
};

/* What a process is started with; texts end with NUL, and so do the lists with NULL. */
struct program {
  uint32_t id;
  const char *folder;
  char **argv, **env;
  int stdin_fd, stdout_fd, stderr_fd, told_fd; /* told_fd: -1, or what becomes descriptor 3 */
};

/* frames.c: what the engine is told */
enum { IS_URGENT = 1 };
void frame(char type, uint32_t id, const void *payload, size_t size, int is_urgent);
char *frame_room(size_t size);
void frame_output(char type, uint32_t id, size_t size);
void frame_started(const struct job *job);
void frame_ended(const struct job *job, int has_usage);
void frame_refused(uint32_t id, int error, enum stage stage);
int flush_if_urgent(void); /* whether frames are left for later */
void flush_frames(void);

/* messages.c: what the engine asks for */
void take_messages(void);

/* spawn.c */
pid_t spawn(const struct program *program);

/* jobs.c */
extern struct job *jobs;
extern int lingering; /* jobs whose main process has gone before the rest of their group */
struct job *new_job(uint32_t id);
void drop_job(struct job *job);
void start_job(uint32_t id, const char *folder, char **argv, char **env, char *text, size_t text_size);
void signal_job(uint32_t id, int signal);
void relay(struct source *source);
void drain(struct source *source);
void feed(struct job *job);
void reap(void);
void end_lingering(void);
_Noreturn void farewell(void);

/* shells.c: shells that wait for lines of nothing but literal built-ins (builtin-line.ts) */
int start_in_shell(uint32_t id, const char *folder, const char *line);
void end_in_shell(struct job *shell);

/* main.c */
void forget_stops(void);
int open_pipe(int ends[ENDS]);
int watch(struct source *source, int fd);
void unwatch(struct source *source);
extern int null_fd, refusals[ENDS];

#endif
