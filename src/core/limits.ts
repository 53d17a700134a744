// The bounds that several files share, each with its reason; a bound that one file uses is in that file. Units come last.

const KiB = 1024;
const MiB = 1024 * KiB;

/** One read from a source file. 64 KiB reads make a load half as slow again as 1 MiB reads. */
export const readBytes = 1 * MiB;

/** How often a loading thread reports what it decoded: a display needs no more, and each message wakes the main thread. */
export const threadReportMs = 100;

/** Rows that COPY is given without copying them: as much as a socket takes at once, and more than a stream keeps back. */
export const copyPieceBytes = 64 * KiB;

/** One transaction of staging load. Large enough that commit is noise, small enough that a crash costs a second. */
export const chunkBytesDefault = 32 * MiB;

/** A chunk of a stream is kept in memory until it is committed: each of several workers may have this many bytes. */
export const streamChunkBytesMax = 8 * MiB;

/** A single worker waits for each commit, so it may have as many bytes as four of several would. */
export const streamChunkBytesAlone = 4 * streamChunkBytesMax;

/** A file is not cut into pieces smaller than this: a job and its transaction cost some milliseconds each. */
export const segmentBytesMin = 8 * MiB;

/** Chunks of one segment. Two, so that the scan that cuts a file is soon ahead of the loaders. */
export const segmentChunks = 2;

/** Segments per worker, when there is too little data for full ones: then all workers finish at nearly the same time. */
export const segmentsPerWorker = 4;

/** Small files that share a job: 15 kB of text on the queue, and a worker that is lost gives no more than that back. */
export const segmentsPerJobMax = 100;

/** An enqueued run is cut as if this many workers like this one loaded it: idle workers find something to help with,
 *  and cutting costs a scan at a hundred times the speed of loading. */
export const helpedShare = 4;

/** Files are cut when their uneven sizes would make the load longer than this, compared with an even division. */
export const unevenMax = 1.1;

/** Longest record kept in memory; longer is nearly always an unclosed quote. DuckDB's default is 2 MB too. */
export const recordBytesMax = 2_000_000;

/** A header line longer than this is not a header (1,600 columns of 63 bytes, PostgreSQL's own limit, fit twice). */
export const headerBytesMax = 256 * KiB;

/** Raw text kept of one rejected record. Enough to see the fault; a bad file must not become a large table. */
export const rejectRawBytesMax = 4 * KiB;

/** Once a table is over a `rejectLimit` given as a count, this many are still collected, to show the whole family of faults;
 *  then the run stops. A worker stops on its own at this many, or at one more than the limit: it may not know of the others'. */
export const rejectsCollectedMax = 1_000;

/** First and last bytes of a source file that go into its fingerprint beside size and modification time. */
export const fingerprintSampleBytes = 64 * KiB;

/** Files that are read at the same time while planning. A few suffice on a local disk; network responses take longer. */
export const filesAtOnceMax = 16;

/** Time to reach the server before the connection counts as failed. */
export const connectTimeoutMs = 10_000;

/** PostgreSQL's own limits: it cuts longer identifiers silently (NAMEDATALEN - 1), so we refuse them; more columns it refuses. */
export const identifierBytesMax = 63;
export const columnsMax = 1_600;

/** A worker that dies without a word gives its job back after this. Short, because delivering twice costs nothing:
 *  the second worker waits for the first one's chunk, then finds it loaded. */
export const jobLockMs = 10_000;

/** Tries of a job whose process lost its server, and the pause between them. */
export const jobAttemptsMax = 100;
export const jobBackoffMs = 1_000;

/** How often jobs of dead workers are looked for. */
export const jobStalledCheckMs = 5_000;

/** Deliveries of one job before BullMQ gives up on it: every one of them may have met a crash of its own. */
export const jobStalledMax = 100;

/** Progress is reported at most this often: drawn on a terminal; in plain lines on a pipe or in a log file. */
export const progressIntervalMs = 100;
export const progressLineIntervalMs = 5_000;

/** The embedded server answers within this, or its log is shown. */
export const embeddedStartTimeoutMs = 30_000;

/** Looks at the embedded server's status file while it starts or stops; it needs about 100 ms for either. */
export const embeddedPollIntervalMs = 10;

/** Another process that starts the embedded server (copies programs, makes the cluster) is done by then. */
export const embeddedLockTimeoutMs = 60_000;

/** A fast shutdown ends with a checkpoint, which may have gigabytes to write. */
export const embeddedStopTimeoutMs = 60_000;

/** A killed server's orphans hold its shared memory for a moment; a start is tried again for this long. */
export const embeddedOrphansTimeoutMs = 10_000;

/** Below the ports that systems give to outgoing connections (from 32768): nobody takes ours while it is down. Ports tried
 *  before we say that none is free; a dozen would do. */
export const embeddedPortMin = 20_000;
export const embeddedPortMax = 31_999;
export const embeddedPortAttemptsMax = 100;

/** Last lines of the server's log shown when it does not start; the reason is nearly always among them. A larger log is set
 *  aside at the next start, and the one set aside before is dropped. */
export const embeddedLogLinesShown = 5;
export const embeddedLogBytesMax = 10 * MiB;

/** Characters of a field that a reject's reason repeats; the whole record is kept beside it. */
export const reasonTextCharsMax = 60;

/** Characters that varchar(n) may declare: PostgreSQL's own limit. */
export const varcharLengthMax = 10_485_760;

/** Digits that numeric(p, s) may declare: PostgreSQL's own limit. */
export const numericPrecisionMax = 1_000;

/** Digits before and after the point of an unconstrained numeric, and its exponent: PostgreSQL's own limits. */
export const numericIntegerDigitsMax = 131_072;
export const numericDecimalsMax = 16_383;
export const numericExponentMax = 1_073_741_823;

/** Nested arrays and objects of a JSON field. The server parses recursively and runs out of stack
 *  (max_stack_depth, 2 MB) some thousands deeper; the record would then cost several COPYs. */
export const jsonDepthMax = 1_000;

/** Every worker is a connection, and PostgreSQL allows 100 by default: more workers are a typing mistake. */
export const workersMax = 100;

/** Runs that `etl status` lists: as many as fit a window. */
export const runsListed = 20;

/** Tables named when a misspelt one is like none of them: as many as fit on a line or two. */
export const tablesSuggestedMax = 10;

/** Most entries that shell completion offers for a file name. */
export const completionsMax = 200;

/** Help text is no wider than this: long lines are hard to read even where they fit. */
export const helpWidthMax = 100;

/** Cells of a progress bar: a longer one shows no more. */
export const barCellsMax = 24;

/** How often a busy connection is checked for moving bytes. */
export const watchIntervalMs = 2_000;

/** After this long without a byte on a busy connection, the server is asked about its session. A slow query counts as working. */
export const silenceMs = 10_000;

/** The same when we have nothing to send and the server waits for us: our own source may be what is slow. */
export const sourceSilenceMs = 60_000;

/**
 * A session of ours that others wait for, and for which its process has done nothing for this long, is ended: somewhat more
 * than the process itself, if it lived, would give its source.
 */
export const frozenMs = sourceSilenceMs + 10_000;

/** The session must stay silent for this much longer: after a clock jump, every session looks silent for a moment. */
export const frozenConfirmMs = 3_000;

/** Parallel processes that help a session sort an index on the embedded server, which shares its machine. */
export const embeddedIndexHelpersMax = 4;

/** Bound of the question to the server itself: no answer counts as a dead connection. */
export const probeTimeoutMs = 5_000;

/** Waiting for a server that went away: first pause, and the longest between two tries. */
export const waitFirstMs = 100;
export const waitStepMsMax = 5_000;

/** Default of `--wait`: a restart takes seconds, crash recovery of a busy server minutes. */
export const waitMsDefault = 300_000;

/** A lock whose holder's process is dead is waited for this long: the server is about to notice, too. */
export const deadHolderWaitMs = 30_000;

/** Tries of the same transaction after deadlocks and the like, before the run stops. */
export const chunkAttemptsMax = 5;

/** Longest query of BullMQ's own; they take milliseconds on a healthy server. */
export const queueQueryTimeoutMs = 30_000;

/** BullMQ's close() has no bound of its own; after this its sockets are destroyed. */
export const queueCloseTimeoutMs = 3_000;

/** How long a scrape waits for queue and schedules. Prometheus gives up after ten seconds. */
export const scrapeAnswerMs = 5_000;

/** Tries to reach Redis before a run says that it is gone, with pauses that grow to the longest: some three seconds where
 *  connections are refused, minutes where nothing answers. A run then waits for it as for PostgreSQL, up to `--wait`. */
export const redisAttemptsMax = 10;
export const redisRetryStepMs = 50;
export const redisRetryMsMax = 500;

/** Tries of a run that failed for a reason that may pass, and the first pause between them, which doubles: the last comes
 *  after about 40 minutes. */
export const runAttemptsMax = 10;
export const runBackoffMs = 5_000;

/** A worker of several queues asks the queue of its last job this much later than the others. */
export const otherQueuesFirstMs = 100;

/** A run whose pipeline is being run by somebody else, or whose worker stops, is offered again after this. */
export const runLockedRetryMs = 5_000;
export const runHandedOnMs = 100;

/** Finished jobs that stay on the queue of runs, for inspection; etl.run has the outcome of the runs. */
export const finishedRunJobsKept = 100;

/** Largest priority of a run: BullMQ's own limit. */
export const runPriorityMax = 2_097_151;

/** Largest number of a TCP port. */
export const portMax = 65_535;

/** How often an idle worker looks for runs of others that it can help. */
export const helpPollMs = 1_000;

/** How often a worker checks whether the queue has lost the job of an unfinished run: each check opens connections to the queue. */
export const lostJobsCheckMs = 10_000;

/** How often a worker looks for schedules that are due. A schedule may have seconds, but slots nearer than this collapse. */
export const scheduleCheckMs = 2_000;

/** A slot that no worker has handled after this long was missed: replacing workers by new ones takes less. */
export const slotLateMs = 60_000;

/** Coming slots that are shown: enough to see a weekly pattern, and a clock change that is near. */
export const slotsShown = 5;

/** A worker that is asked to stop finishes its chunks within this, or aborts them. Kubernetes gives thirty seconds. */
export const stopDeadlineMsDefault = 25_000;

/** How long a command waits at its end for the collector of its spans. */
export const traceFlushTimeoutMs = 5_000;

/** Longest `tracestate` that comes with a job: W3C Trace Context, §3.3.1.5, asks for 512 characters to be passed on. */
export const traceStateCharsMax = 512;

/** Buckets of the time that a chunk takes: 32 MiB load in about a second on a usual machine. */
export const chunkSecondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** How often the coordinator checks whether the queue is empty, when no job of its own process ends. */
export const queuePollMs = 500;

/** Oldest server we work with: 13 is out of support, and 14 brought client_connection_check_interval. */
export const serverVersionMin = 140_000;

/** Recoveries of one run in a row: a server that drops us a hundred times has a problem that waiting does not solve. */
export const recoveriesMax = 100;

/** A chunk is one transaction and is loaded again as a whole: a gigabyte is more than anybody wants to repeat. */
export const chunkBytesMax = 1024 * MiB;

/** Background processes of the server start within this of each other; a later one was restarted after a crash. */
export const serverStartSpreadMs = 5_000;

/** Staging tables that `etl doctor` names; their number and size it gives for all of them. */
export const stagingTablesShown = 5;

/** A run that took at least this long keeps its time profile in its row, because people ask about it later. A shorter one only with `--profile`. */
export const adviceSecondsMin = 5;

/** How often `--profile` looks at what the server's sessions are doing: each look costs it well under a millisecond. */
export const profileIntervalMs = 25;

/** How long closing a connection may take when the server may be gone; after this the socket is destroyed. */
export const closeTimeoutMs = 2_000;

/** A loading thread closes its connection and ends within this, or is ended. */
export const threadCloseTimeoutMs = 5_000;

/** A chunk ends at its ten thousandth reject: the commonest mistake makes every record one, and they are kept in memory
 *  until the chunk commits. No more records than that are decoded at once, either. */
export const rejectsPerChunkMax = 10_000;

/** Rejects per statement: at the maximum size of records and faults, 8 MiB of text. */
export const rejectsPerInsertMax = 1_000;

/** Memory for sorting indexes, all sessions of a build together. An index of ten million short keys fits; a larger sort
 *  uses files and takes a fifth longer, and a server with larger buffers has other users, too. */
export const sortMemoryBytesMax = 1024 * MiB;
