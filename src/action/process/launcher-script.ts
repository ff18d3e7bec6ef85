/**
 * A launcher for machines on which the compiled one (`native/launcher`) cannot run: a Perl program that starts processes
 * for the engine. It holds mechanism only; when to send which signal is decided in `group-ending.ts`.
 *
 * - Each job gets a process group and two pipes of its own. What the job prints is relayed in frames, so the end of
 *   its output is the end of its pipes and no marker can be forged or be mistaken for one.
 * - A job is over when its main process has been reaped and its group is empty. What a process that left the group
 *   still writes goes nowhere: the pipes are closed.
 * - When the engine goes away, the command pipe ends and every group is killed.
 * - A child that cannot chdir or exec says so on a pipe which closes by itself on exec.
 * - A command line of nothing but literal built-ins (`builtin-line.ts`) runs in a subshell of a waiting shell, which has
 *   its own group and pipes too: such a line can neither see which shell runs it nor leave a process behind.
 *
 * It loads no module (not even strict): each page it touches is paid for in every fork.
 */
export const LAUNCHER_SCRIPT = String.raw`
my ($linux, $prctl, $wait4) = @ARGV;
my $EINTR = 4;
my $CHUNK = 65536;
my $PIPE_BUF = $linux ? 4096 : 512;   # a writable pipe takes this much without blocking
my $DRAIN = 1048576;                  # no pipe holds more
my $POLL = 0.004;                     # between two looks at a group that should become empty
my $TICK = 0.05;                      # a SIGCHLD can slip in just before select; start frames wait no longer
my $IDLE = 1;                         # the same when no job runs
my (%jobs, %by_pid, @waiting, $rin, $win);
my ($status, $usage) = ("\0" x 8, "\0" x 256);   # room for what wait4 tells
my $lingering = 0;                    # jobs whose main process has gone before the rest of their group
my ($in, $out, $urgent) = ('', '', 0);
$0 = 'daruma-launcher';
$SIG{CHLD} = sub { };                 # interrupts select; unlike IGNORE, handlers do not survive exec
$SIG{PIPE} = sub { };
my $told = 0;
$SIG{$_} = sub { $told = 1 } for qw(TERM INT HUP);
syscall($prctl, 36, 1, 0, 0, 0) if $prctl;   # PR_SET_CHILD_SUBREAPER: orphans of jobs are reaped here
open(my $fd3, '<', '/dev/null');      # keeps the number 3 free for the waiting shells
pipe(my $fail_r, my $fail_w);
open(my $null, '<', '/dev/null');
vec($rin = '', 0, 1) = 1;
$win = '';

sub frame { $out .= pack('ANN', $_[0], $_[1], length $_[2]) . $_[2] }

sub flush_out {
  while (length $out) {
    my $n = syswrite(STDOUT, $out);
    if (defined $n) { substr($out, 0, $n, '') } elsif ($! != $EINTR) { farewell() }
  }
  $urgent = 0;
}

sub farewell {
  for (1 .. 500) {
    my $left = 0;
    1 while waitpid(-1, 1) > 0;
    for my $pid (keys %by_pid) { $left++ if kill('KILL', -$pid) || kill('KILL', $pid) && waitpid($pid, 1) == 0 }
    last unless $left;
    select(undef, undef, undef, 0.01);
  }
  exit 0;
}

sub start {
  my ($has_in, $id, $cwd, $argv, $set, $unset, $text) = ($_[0], unpack('N N/a* N/a* N/a* N/a* a*', $_[1]));
  my ($or, $ow, $er, $ew, $ir, $iw);
  my $pid;
  if (pipe($or, $ow) && pipe($er, $ew) && (!$has_in || pipe($ir, $iw))) { $pid = fork }
  if (!defined $pid) { frame('F', $id, pack('NC', $! + 0, 0)); $urgent = 1; return }
  if (!$pid) {
    setpgrp(0, 0);
    my @argv = split(/\0/, $argv, -1);
    pop @argv;
    open(STDIN, '<&', $has_in ? $ir : $null) && open(STDOUT, '>&', $ow) && open(STDERR, '>&', $ew) || refuse($id, 0);
    chdir($cwd) || refuse($id, 1);
    delete @ENV{ split(/\0/, $unset) } if length $unset;
    if (length $set) { my %set = split(/\0/, $set, -1); @ENV{ keys %set } = values %set }
    exec { $argv[0] } @argv;
    refuse($id, 2);
  }
  my $job = { id => $id, pid => $pid, out => $or, err => $er, ofd => fileno $or, efd => fileno $er };
  vec($rin, $job->{ofd}, 1) = 1;
  vec($rin, $job->{efd}, 1) = 1;
  if ($has_in) { $job->{in} = $iw; $job->{ifd} = fileno $iw; $job->{text} = $text; vec($win, $job->{ifd}, 1) = 1 }
  $jobs{$id} = $by_pid{$pid} = $job;
  frame('S', $id, pack('N', $pid));
}

sub start_builtin {
  my ($id, $cwd, $argv) = unpack('N N/a* N/a*', $_[0]);
  my $shell = -d $cwd && (pop @waiting || open_shell()) or return start(0, $_[0]);
  my ($line) = $argv =~ /\0--\0(.*)\0/s;
  $cwd =~ s/'/'\\''/g;
  # The line stands for itself, not in eval: messages then have the shell's usual form.
  my $text = "if cd '$cwd' 2>/dev/null; then ($line\n); echo \$? >&3; else echo cd >&3; fi\n";
  return start(0, $_[0]) unless defined syswrite($shell->{commands}, $text);
  $shell->{id} = $id;
  $jobs{$id} = $shell;
  vec($rin, $shell->{$_}, 1) = 1 for qw(ofd efd sfd);
  frame('S', $id, pack('N', $shell->{pid}));
}

sub open_shell {
  my ($or, $ow, $er, $ew, $cr, $cw, $sr, $sw);
  pipe($or, $ow) && pipe($er, $ew) && pipe($cr, $cw) && pipe($sr, $sw) or return;
  my $pid = fork;
  return unless defined $pid;
  if (!$pid) {
    setpgrp(0, 0);
    $^F = 3;
    open(STDIN, '<&', $cr) && open(STDOUT, '>&', $ow) && open(STDERR, '>&', $ew) && open($fd3, '>&', $sw)
      && exec { '/bin/sh' } 'sh';
    kill('KILL', $$);
  }
  return $by_pid{$pid} = {
    pid => $pid, commands => $cw, out => $or, err => $er, told => $sr,
    ofd => fileno $or, efd => fileno $er, sfd => fileno $sr,
  };
}

# The subshell has gone and had no children: what it printed is in the pipes, and the shell can take the next line.
sub end_builtin {
  my ($shell) = @_;
  vec($rin, $shell->{$_}, 1) = 0 for qw(ofd efd sfd);
  return unless sysread($shell->{told}, my $told, 16);
  drain($shell, 'out', 'ofd');
  drain($shell, 'err', 'efd');
  my $id = delete $shell->{id};
  delete $jobs{$id};
  # One that was sent a signal may be dying: the next line must not meet the same end.
  if ($shell->{signaled}) { kill('KILL', -$shell->{pid}) } else { push @waiting, $shell }
  if ($told eq "cd\n") { frame('F', $id, pack('NC', 13, 1)) } else { frame('X', $id, pack('N', $told << 8)) }
  $urgent = 1;
}

sub refuse {
  syswrite($fail_w, pack('NNC', $_[0], $! + 0, $_[1]));
  kill('KILL', $$);
}

sub relay {
  my ($job, $side, $fd) = @_;
  my $n = sysread($job->{$side}, my $chunk, $CHUNK);
  if ($n) {
    $out .= pack('ANN', $side eq 'out' ? 'O' : 'E', $job->{id}, $n) . $chunk;
    $urgent = 1;
    flush_out() if length $out >= $CHUNK;
  } elsif (defined $n || $! != $EINTR) {
    vec($rin, $job->{$fd}, 1) = 0;
    close(delete $job->{$side});
  }
  return $n;
}

sub feed {
  my ($job) = @_;
  my $n = syswrite($job->{in}, substr($job->{text}, 0, $PIPE_BUF));
  substr($job->{text}, 0, $n, '') if $n;
  return if defined $n ? length $job->{text} : $! == $EINTR;
  vec($win, $job->{ifd}, 1) = 0;
  close(delete $job->{in});
}

sub drain {
  my ($job, $side, $fd) = @_;
  my $taken = 0;
  while ($job->{$side} && $taken < $DRAIN) {
    vec(my $r = '', $job->{$fd}, 1) = 1;
    last unless select($r, undef, undef, 0) > 0;
    $taken += relay($job, $side, $fd) || 0;
  }
}

sub finish {
  my ($job) = @_;
  drain($job, 'out', 'ofd');
  drain($job, 'err', 'efd');
  for (qw(ofd efd sfd)) { vec($rin, $job->{$_}, 1) = 0 if defined $job->{$_} }
  close($_) for grep { $_ } @$job{qw(out err told commands)};
  if ($job->{in}) { vec($win, $job->{ifd}, 1) = 0; close(delete $job->{in}) }
  delete $jobs{ $job->{id} };
  delete $by_pid{ $job->{pid} };
  $lingering-- if $job->{lingers};
  my $refusal = $job->{refusal};
  if ($refusal) { frame('F', $job->{id}, $refusal) }
  else { frame('X', $job->{id}, pack('N*', $job->{status}, $job->{commands} ? () : @{ $job->{usage} || [] })) }
  $urgent = 1;
}

# Peak in KiB, CPU time in microseconds, blocks read and written, each as two numbers of 32 bits.
sub wait_next {
  if (!$wait4) { my $pid = waitpid(-1, 1); return ($pid, $?) }
  my $pid = syscall($wait4, -1, $status, 1, $usage);
  return ($pid) unless $pid > 0;
  my ($us, $uu, $ss, $su, $peak, $read, $written) = (unpack('q13', $usage))[0 .. 4, 11, 12];
  my $cpu = ($us + $ss) * 1_000_000 + $uu + $su;
  return ($pid, unpack('l', $status), [map { ($_ >> 32, $_ & 0xffffffff) } $peak, $cpu, $read, $written]);
}

sub reap {
  my (@ended, $pid, $status, $usage);
  while ((($pid, $status, $usage) = wait_next()) && $pid > 0) {
    my $job = $by_pid{$pid} or next;
    $job->{status} = $status;
    $job->{usage} = $usage;
    push @ended, $job;
  }
  for my $job (@ended) {
    if (!defined $job->{id}) { @waiting = grep { $_ != $job } @waiting; delete $by_pid{ $job->{pid} }; next }
    read_refusals() if $job->{status} == 9;
    if (kill(0, -$job->{pid})) { $job->{lingers} = 1; $lingering++; frame('L', $job->{id}, ''); $urgent = 1 }
    else { finish($job) }
  }
}

sub read_refusals {
  while (1) {
    vec(my $r = '', fileno $fail_r, 1) = 1;
    last unless select($r, undef, undef, 0) > 0 && sysread($fail_r, my $record, 9);
    my ($id, $errno, $stage) = unpack('NNC', $record);
    $jobs{$id}{refusal} = pack('NC', $errno, $stage) if $jobs{$id};
  }
}

sub obey {
  my ($type, $body) = (substr($_[0], 0, 1), substr($_[0], 1));
  if ($type eq 'R') { start(0, $body) }
  elsif ($type eq 'I') { start(1, $body) }
  elsif ($type eq 'Q') { start_builtin($body) }
  elsif ($type eq 'B') { %ENV = split(/\0/, $body, -1) }
  else {
    my ($id, $signal) = unpack('NN', $body);
    my $job = $jobs{$id} or return;
    if ($signal == 0) { $job->{status} = 9 unless defined $job->{status}; finish($job) }
    else { $job->{signaled} = 1; kill($signal, -$job->{pid}) || !defined $job->{status} && kill($signal, $job->{pid}) }
  }
}

sub take_commands {
  my $got = sysread(STDIN, $in, $CHUNK, length $in);
  farewell() if defined $got ? !$got : $! != $EINTR;
  while (length $in >= 4) {
    my $size = unpack('N', $in);
    last if length $in < 4 + $size;
    my $message = substr($in, 4, $size);
    substr($in, 0, 4 + $size, '');
    obey($message);
  }
}

frame('H', 0, '');
$urgent = 1;
while (1) {
  flush_out() if $urgent;
  my ($r, $w) = ($rin, $win);
  my $n = select($r, $w, undef, $lingering ? $POLL : %jobs ? $TICK : $IDLE);
  if ($told) { $told = 0; frame('T', 0, ''); $urgent = 1 }
  if ($n > 0) {
    # Jobs before commands: a job that a command starts may get the number of a pipe that has just been closed.
    for my $job (values %jobs) {
      relay($job, 'out', 'ofd') if $job->{out} && vec($r, $job->{ofd}, 1);
      relay($job, 'err', 'efd') if $job->{err} && vec($r, $job->{efd}, 1);
      feed($job) if $job->{in} && vec($w, $job->{ifd}, 1);
      end_builtin($job) if $job->{told} && vec($r, $job->{sfd}, 1);
    }
    take_commands() if vec($r, 0, 1);
  } elsif ($n == 0) { $urgent = 1 }
  reap();
  if ($lingering) {
    my @left = grep { $_->{lingers} } values %jobs;
    for my $job (@left) { finish($job) unless kill(0, -$job->{pid}) }
  }
}
`;
