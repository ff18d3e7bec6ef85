/** CPU time for an expression. It is counted in interrupts, not measured: see INTERRUPTS_PER_MS. */
export const EXPRESSION_BUDGET_MS = 25;
/**
 * CPU time after which an evaluation's thread is terminated. Interrupts alone do not suffice: native builtins ignore
 * them.
 */
export const EXPRESSION_DEADLINE_MS = 2_000;
/**
 * QuickJS asks once every 10,000 loop turns or calls whether to go on, every 0.08 ms (an empty loop) to 0.24 ms (a loop
 * that calculates) on a 2-core machine. A count gives the same verdict on a busy machine as on an idle one.
 */
export const INTERRUPTS_PER_MS = 5;

/**
 * Limit for variables as JSON text. Parsed, they take several times as much, so more would not fit in
 * MEMORY_LIMIT_BYTES.
 */
export const MAX_VARIABLES_CHARS = 8 * 1024 * 1024;
export const MAX_RESULT_BYTES = 64 * 1024;
export const MAX_SCRIPT_RESULT_BYTES = 4 * 1024 * 1024;
/** Nesting of lists and objects. Code that walks a result recurses. */
export const MAX_RESULT_DEPTH = 200;
export const MAX_REASON_CHARS = 1_000;
export const MAX_STACK_CHARS = 4_000;

export const MEMORY_LIMIT_BYTES = 32 * 1024 * 1024;
export const STACK_LIMIT_BYTES = 256 * 1024;

/** Threads shared by all expressions. With two, one stays free while a hostile expression blocks the other. */
export const EXPRESSION_THREADS = 2;
/** Evaluations sent to a thread in one message. */
export const BATCH_SIZE = 16;
/**
 * CPU time for a batch. If it takes longer, its evaluations run again one by one, so that only the culprit is refused.
 */
export const BATCH_PATIENCE_MS = 200;
/** How long work waits for a busy thread before another one is started. */
export const REINFORCE_AFTER_MS = 20;
/** The longest delay that setTimeout accepts. It fires at once for anything longer. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Length of one template. */
export const MAX_TEMPLATE_CHARS = 1024 * 1024;
/** Characters and items that the templates of one step may produce together. Printed text counts twice. */
export const MAX_TEMPLATE_WORK = 32 * 1024 * 1024;
/** CPU time for all templates of a step. */
export const TEMPLATE_DEADLINE_MS = 10_000;
/**
 * Wall time limit inside the thread. It is below TEMPLATE_DEADLINE_MS so that the thread itself can report which
 * template took too long.
 */
export const TEMPLATE_RENDER_MS = 8_000;
export const TEMPLATE_THREADS = 2;
/** Limit for variables as JSON text, since they are copied to the thread. */
export const MAX_TEMPLATE_VARIABLES_CHARS = 32 * 1024 * 1024;
/**
 * Simple templates that cost less than this are rendered on the main thread, because handing them to another takes
 * longer.
 */
export const IN_PLACE_WORK = 256 * 1024;
/** Cost of one tag. It is high because a tag may compare texts of any length. */
export const IN_PLACE_TAG_COST = 4 * 1024;
/** Cost of parsing a template, on top of its length. */
export const IN_PLACE_TEMPLATE_COST = 200;
