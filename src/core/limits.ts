// Bounds, each with its reason. Names end with the unit and `Max` or `Min`.

const KiB = 1024;
const MiB = 1024 * KiB;

/** Bytes of one read from a source file. With 64 KiB, a load takes 50 % longer. */
export const readBytes = 1 * MiB;

/** How often a loading thread reports its counts. Each message wakes the main thread. */
export const threadReportMs = 100;

/** Buffers of at least this size are sent without a copy: a socket takes this much at once. */
export const copyPieceBytes = 64 * KiB;

/** Bytes of a file that one transaction loads: few commits, and a crash loses about a second. */
export const chunkBytesDefault = 32 * MiB;

/** Chunk size of a stream with several workers. A chunk stays in memory until its commit. */
export const streamChunkBytesMax = 8 * MiB;

/** Chunk size of a stream with a single worker, which waits for each commit. */
export const streamChunkBytesAlone = 4 * streamChunkBytesMax;

/** Smallest segment of a file: each job and its transaction cost some milliseconds. */
export const segmentBytesMin = 8 * MiB;

/** Chunks in a segment: few, so that the first segments of a file can be loaded soon. */
export const segmentChunks = 2;

/** Segments per worker if there is little data: all workers then end at nearly the same time. */
export const segmentsPerWorker = 4;

/** Segments of small files in a job. 100 make 15 kB, and are queued again if their worker dies. */
export const segmentsPerJobMax = 100;

/** Files of an enqueued run are cut for this many times its workers, so that idle ones can help. */
export const helpedShare = 4;

/** Files are cut if the busiest worker would get this many times the average number of bytes. */
export const unevenMax = 1.1;

/** Longest record, as in DuckDB. A longer record nearly always has an unclosed quote. */
export const recordBytesMax = 2_000_000;

/** Longest header: twice the 1,600 names of 63 bytes that PostgreSQL allows. */
export const headerBytesMax = 256 * KiB;

/** Bytes kept of a rejected record: enough to see the fault, but etl.reject must stay small. */
export const rejectRawBytesMax = 4 * KiB;

/** Rejects that a table collects even if its `rejectLimit` is a lower count: they show faults. */
export const rejectsCollectedMax = 1_000;

/** Bytes at the start and end of a file that its fingerprint hashes, besides size and time. */
export const fingerprintSampleBytes = 64 * KiB;

export const connectTimeoutMs = 10_000;

/** The same where a person waits for a list or a page: an outage must be seen within five seconds. */
export const askTimeoutMs = 3_000;

/** NAMEDATALEN - 1. PostgreSQL cuts longer names silently, so sluice refuses them. */
export const identifierBytesMax = 63;
export const columnsMax = 1_600;

/**
 * Time until another worker gets the job of a killed worker. If the first worker is still alive,
 * the second one waits until the chunk is committed, and skips it.
 */
export const jobLockMs = 10_000;

export const jobAttemptsMax = 100;
export const jobBackoffMs = 1_000;

export const jobStalledCheckMs = 5_000;

export const jobStalledMax = 100;

export const progressIntervalMs = 100;
export const progressLineIntervalMs = 5_000;

/** Time in which the embedded server must answer after its start. After it, the log is shown. */
export const embeddedStartTimeoutMs = 30_000;

/** How often a starting or stopping server's status file is read. A start takes about 100 ms. */
export const embeddedPollIntervalMs = 10;

export const embeddedLockTimeoutMs = 60_000;

/** Time for a fast shutdown, whose checkpoint may write gigabytes. */
export const embeddedStopTimeoutMs = 60_000;

/** How long a start is retried while processes of a killed server still hold its shared memory. */
export const embeddedOrphansTimeoutMs = 10_000;

/** Ports of the embedded server: below 32768, from where systems assign outgoing connections. */
export const embeddedPortMin = 20_000;
export const embeddedPortMax = 31_999;
export const embeddedPortAttemptsMax = 100;

/** Last lines of the log that are shown if the server does not start: they usually say why. */
export const embeddedLogLinesShown = 5;
/** A larger log is renamed at the next start. It replaces the log that was renamed before. */
export const embeddedLogBytesMax = 10 * MiB;

/** Longest part of a field in the reason of a reject. The reject also stores the whole record. */
export const reasonTextCharsMax = 60;

/** PostgreSQL's limit of n in varchar(n). */
export const varcharLengthMax = 10_485_760;

export const numericPrecisionMax = 1_000;

/** PostgreSQL's limits of numeric: digits before the point, digits after the point, exponent. */
export const numericIntegerDigitsMax = 131_072;
export const numericDecimalsMax = 16_383;
export const numericExponentMax = 1_073_741_823;

/** JSON some thousands of levels deeper than this reaches the server's max_stack_depth (2 MB). */
export const jsonDepthMax = 1_000;

/** Each worker has a connection. PostgreSQL allows 100 by default, so more are probably a typo. */
export const workersMax = 100;

export const runsListed = 20;

export const tablesSuggestedMax = 10;

export const completionsMax = 200;

/** Columns of help text: longer lines are hard to read, also in wide windows. */
export const helpWidthMax = 100;

export const barCellsMax = 24;

/** How often a busy connection is checked for bytes sent or received. */
export const watchIntervalMs = 2_000;

/** Time without a byte on a busy connection, after which the server is asked about the session. */
export const silenceMs = 10_000;

/** Replaces `silenceMs` if the server waits for our data, because the source may be slow. */
export const sourceSilenceMs = 60_000;

/**
 * A session that blocks others is terminated if its client sent nothing for this long. A client
 * that still runs gives up after `sourceSilenceMs`.
 */
export const frozenMs = sourceSilenceMs + 10_000;

/** A silent session is checked again after this time: a clock jump makes all seem silent. */
export const frozenConfirmMs = 3_000;

/** Parallel processes for an index on the embedded server: the run is on the same machine. */
export const embeddedIndexHelpersMax = 4;

/** Time for the server to answer about a silent session. Then the connection counts as dead. */
export const probeTimeoutMs = 5_000;

export const waitFirstMs = 100;
export const waitStepMsMax = 5_000;

/** Default of `--wait`: a restart takes seconds, crash recovery of a busy server takes minutes. */
export const waitMsDefault = 300_000;

/** How long to wait for a lock whose holder is dead, until the server notices that and frees it. */
export const deadHolderWaitMs = 30_000;

/** Attempts of a chunk's transaction after deadlocks and similar errors, before the run stops. */
export const chunkAttemptsMax = 5;

/** Longest query of BullMQ, which takes milliseconds on a healthy server. */
export const queueQueryTimeoutMs = 30_000;

/** Time for BullMQ's close(), which has no timeout; then its sockets are destroyed. */
export const queueCloseTimeoutMs = 3_000;

/** How long a scrape of metrics waits for data. Prometheus gives up after ten seconds. */
export const scrapeAnswerMs = 3_000;

/**
 * Attempts to reach Redis before a run waits for it, up to `--wait`: three seconds if connections
 * are refused, minutes if nothing answers.
 */
export const redisAttemptsMax = 10;
/** Each pause between attempts to reach Redis is longer than the pause before by this time. */
export const redisRetryStepMs = 50;
export const redisRetryMsMax = 500;

/** Attempts of an enqueued run that fails for a temporary reason, over about 40 minutes. */
export const runAttemptsMax = 10;
/** First pause between attempts of a run. Each further pause is twice as long. */
export const runBackoffMs = 5_000;

/** A worker of several queues asks the queue of its last job last, after this pause. */
export const otherQueuesFirstMs = 100;

/** Processes that may die in a row on one run without loading a chunk; then the run fails. */
export const runDeathsMax = 3;
/** Time between the beginnings of two attempts after two such deaths: a machine may need to recover. */
export const runDeathPauseMs = 30_000;

/** Pause before a run is offered again if another process runs its pipeline. */
export const runLockedRetryMs = 5_000;
/** Pause before a run is offered to other workers if its worker stops. */
export const runHandedOnMs = 100;

/** Finished jobs that are kept in the queue for people to look at. etl.run has the outcomes. */
export const finishedRunJobsKept = 100;

export const runPriorityMax = 2_097_151;

export const portMax = 65_535;

export const helpPollMs = 1_000;

/** How often a worker looks for unfinished runs without a job. Each check connects to the queue. */
export const lostJobsCheckMs = 10_000;

/** How often a worker looks for due schedules. Due times closer together become one run. */
export const scheduleCheckMs = 2_000;

/** How long a worker that looks at a schedule's files may be silent before another one looks. */
export const lookLeaseMs = 30_000;

/** A scheduled run is late if no worker noticed it for this long. A worker restarts faster. */
export const slotLateMs = 60_000;

/** Number of due times shown for a schedule: enough to see a weekly pattern. */
export const slotsShown = 5;

/** Time for a stopping worker to finish its chunks. Kubernetes kills workers after 30 seconds. */
export const stopDeadlineMsDefault = 25_000;

/** Longest `tracestate` in a job. W3C Trace Context, §3.3.1.5, asks to pass on 512 characters. */
export const traceStateCharsMax = 512;

/** Histogram buckets for the load time of a chunk: 32 MiB take about a second. */
export const chunkSecondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** How often a run checks whether its load queue is empty. Other workers take jobs, too. */
export const queuePollMs = 500;

/** Oldest server: PostgreSQL 13 is out of support and lacks client_connection_check_interval. */
export const serverVersionMin = 140_000;

/** Most recoveries of one run: a server that drops its connections so often needs a person. */
export const recoveriesMax = 100;

/** Largest chunk: after a failure, the whole chunk is loaded again. */
export const chunkBytesMax = 1024 * MiB;

/** Background processes of a server start within this time. If one started later, it crashed. */
export const serverStartSpreadMs = 5_000;

export const stagingTablesShown = 5;

/** A run of at least this length keeps its profile in etl.run; a shorter one needs `--profile`. */
export const adviceSecondsMin = 5;

/** Time to close a connection to a server that may be gone; then the socket is destroyed. */
export const closeTimeoutMs = 2_000;

/** Time for a loading thread to close its connection and end; then it is terminated. */
export const threadCloseTimeoutMs = 5_000;

/**
 * A chunk ends after this many rejects, because they stay in memory until its commit, and one wrong
 * option can reject every record. At most this many records are decoded at once.
 */
export const rejectsPerChunkMax = 10_000;

/** Rejects per insert: 8 MiB of text if records and faults are as long as possible. */
export const rejectsPerInsertMax = 1_000;

/**
 * Memory that all sessions of a build share for sorting index keys: enough for ten million rows. A
 * larger sort uses files and takes a fifth longer, but leaves memory to other users.
 */
export const sortMemoryBytesMax = 1024 * MiB;
