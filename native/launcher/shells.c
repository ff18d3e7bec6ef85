#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOLD_BYTES = 16, REFUSED_FOLDER = EACCES };

static char *quoted_end(char *at, const char *text) {
  *at++ = '\'';
  for (; *text; text++) {
    if (*text == '\'') at = stpcpy(at, "'\\'");
    *at++ = *text;
  }
  *at++ = '\'';
  return at;
}

/* The line stands for itself, not in eval: messages then have the shell's usual form. */
static char *script_of(const char *folder, const char *line) {
  char *text = malloc(4 * strlen(folder) + strlen(line) + 100);
  if (!text) return NULL;
  char *at = quoted_end(stpcpy(text, "if cd "), folder);
  at = stpcpy(stpcpy(at, " 2>/dev/null; then ("), line);
  stpcpy(at, "\n); echo $? >&3; else echo cd >&3; fi\n");
  return text;
}

/* The write end of its commands is `in`: it is not watched, because a line fits into an empty pipe. */
static struct job *open_shell(void) {
  static char *argv[] = {"sh", NULL}, *env[] = {NULL};
  int out[ENDS] = {-1, -1}, err[ENDS] = {-1, -1}, commands[ENDS] = {-1, -1}, told[ENDS] = {-1, -1};
  struct job *shell = new_job(0);
  if (!shell) return NULL;
  shell->is_shell = 1;
  shell->pid = -1;
  if (open_pipe(out) == 0 && open_pipe(err) == 0 && open_pipe(commands) == 0 && open_pipe(told) == 0) {
    struct program program = {0, "/", argv, env, commands[0], out[1], err[1], told[1]};
    shell->pid = spawn(&program);
  }
  shell->out_writer = out[1];
  shell->err_writer = err[1];
  shell->in.fd = commands[1];
  if (commands[0] >= 0) close(commands[0]);
  if (told[1] >= 0) close(told[1]);
  int is_watched = watch(&shell->out, out[0]) == 0 && watch(&shell->err, err[0]) == 0 && watch(&shell->told, told[0]) == 0;
  if (shell->pid > 0 && is_watched) return shell;
  if (shell->pid > 0) kill(-shell->pid, SIGKILL);
  drop_job(shell);
  return NULL;
}

static struct job *waiting_shell(void) {
  for (struct job *job = jobs; job; job = job->next)
    if (job->is_shell && !job->id && !job->was_signaled) return job;
  return open_shell();
}

/* 0: it must be started as any other line. */
int start_in_shell(uint32_t id, const char *folder, const char *line) {
  struct stat info;
  if (stat(folder, &info) < 0 || !S_ISDIR(info.st_mode)) return 0;
  struct job *shell = waiting_shell();
  char *script = shell ? script_of(folder, line) : NULL;
  int is_sent = script && write(shell->in.fd, script, strlen(script)) > 0;
  free(script);
  if (!is_sent) return 0;
  shell->id = id;
  frame_started(shell);
  return 1;
}

static int number_in(const char *digits) {
  int number = 0;
  for (; *digits >= '0' && *digits <= '9'; digits++) number = 10 * number + *digits - '0';
  return number;
}

/* The subshell has gone and had no children: what it printed is in the pipes, and the shell can take the next line. */
void end_in_shell(struct job *shell) {
  char told[TOLD_BYTES + 1] = "";
  if (read(shell->told.fd, told, TOLD_BYTES) <= 0) unwatch(&shell->told); /* the shell has died and will be reaped */
  if (!told[0] || !shell->id) return;
  drain(&shell->out);
  drain(&shell->err);
  if (told[0] == 'c') frame_refused(shell->id, REFUSED_FOLDER, STAGE_FOLDER);
  else {
    shell->status = number_in(told) << 8;
    frame_ended(shell, 0);
  }
  shell->id = 0;
  /* One that was sent a signal may be dying: the next line must not meet the same end. */
  if (shell->was_signaled) kill(-shell->pid, SIGKILL);
}
