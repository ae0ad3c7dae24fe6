import type { ServerResponse } from "node:http";
import { type ApiError, sendError } from "@/server/contracts/http/apiServer";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { MEMORY_SHARE } from "@/solver/hardware/memoryFit";
import { type AnswerEnd, answerEnd } from "./answerEnd";
import { type AnswerWriter, createAnswerWriter } from "./answerWriter";
import { contextRefusal } from "./contextFault";
import type { Generation } from "./generation";
import type { GenerationRequest } from "./generationRequest";
import { pythonExposition } from "./pythonExposition";
import { createReplicaClock } from "./replicaClock";
import { StepCounts } from "./stepCounts";
import { createVllmMetrics } from "./vllmMetrics";

export interface EngineCoreOptions {
  readonly model: string;
  readonly replicaModel: ReplicaModel;
  /** Limit for prompt and answer together. */
  readonly maxModelTokens: number;
  readonly timeScale: number;
}

/** The part of an emulated engine that generates: a replica on the wall clock, its open requests and its metrics. */
export interface EngineCore {
  /** Answers a request, each choice a sequence, in the replica's time; a client that disconnects aborts it. */
  serve(response: ServerResponse, request: GenerationRequest, generations: readonly Generation[]): void;
  metricsText(): Promise<string>;
  /** Requests in the batch and in the queue, now. */
  load(): { readonly running: number; readonly waiting: number };
  /** Engine seconds with a step in progress, and engine seconds passed, since it was created. */
  busy(): { readonly busySeconds: number; readonly nowSeconds: number };
  /** Requests not yet answered. */
  openRequests(): number;
  /** Ends all open requests with an error and stops permanently. */
  stop(error: ApiError): void;
}

/** One choice of an answer: a sequence of the replica. */
interface OpenChoice {
  readonly writer: AnswerWriter;
  readonly choice: number;
  readonly stream: boolean;
  readonly inputTokens: number;
  readonly end: AnswerEnd;
  /** The limit of its output. */
  readonly maxTokens: number;
  /** The choices of the same prompt: how many are open, and the longest that has ended. */
  readonly siblings: { readonly count: number; open: number; longestTokens: number };
  readonly arrivedSeconds: number;
  queueSeconds: number | null;
  /** When it was first admitted. */
  admittedSeconds: number;
  preemptions: number;
  firstTokenSeconds: number;
  ttftSeconds: number;
}

/**
 * Interval of stream writes between a request's first and last token, which are sent when they happen: short enough to look live, and long
 * enough that hundreds of streams cost little.
 */
const FLUSH_MS = 40;

/** Starts a replica and its clock. */
export function createEngineCore({ model, replicaModel, maxModelTokens, timeScale }: EngineCoreOptions): EngineCore {
  const beganSeconds = Date.now() / 1000;
  const open = new Map<number, OpenChoice>();
  let streams = 0;
  let flushTimer: NodeJS.Timeout | undefined;

  const steps = new StepCounts({
    inputTokens: (handle) => open.get(handle)?.inputTokens ?? 0,
    generatedTokens: (handle) => clock.generatedTokens(handle),
  });
  const clock = createReplicaClock({
    model: replicaModel,
    timeScale,
    observer: steps,
    onEvent(kind, handle, seconds, seenSeconds) {
      const request = open.get(handle);
      if (request === undefined) return;
      // Queueing is counted from the entry to the engine, as in vLLM, to the first admission.
      if (kind === "admitted" && request.queueSeconds === null) {
        request.queueSeconds = seconds - clock.enteredSeconds(handle);
        request.admittedSeconds = seconds;
      }
      if (kind === "preempted") request.preemptions += 1;
      if (kind === "first-token") {
        request.firstTokenSeconds = seconds;
        request.ttftSeconds = seenSeconds - request.arrivedSeconds;
        metrics.firstToken(request);
        request.writer.generated(request.choice, 1, request.end);
      }
      if (kind === "finished") {
        close(handle, request);
        const { queueSeconds, end, firstTokenSeconds, admittedSeconds } = request;
        metrics.finished({
          ...request,
          reason: end.reason,
          outputTokens: end.tokens,
          queueSeconds: queueSeconds ?? 0,
          prefillSeconds: firstTokenSeconds - admittedSeconds,
          decodeSeconds: seconds - firstTokenSeconds,
          endToEndSeconds: seenSeconds - request.arrivedSeconds,
        });
        const { siblings } = request;
        siblings.open -= 1;
        siblings.longestTokens = Math.max(siblings.longestTokens, end.tokens);
        if (siblings.open === 0) metrics.answered(siblings.count, siblings.longestTokens);
        request.writer.finish(request.choice, end);
      }
    },
  });
  const { replica } = clock;

  const metrics = createVllmMetrics({
    model,
    kvTokens: replicaModel.kvTokens,
    memoryShare: MEMORY_SHARE,
    maxModelTokens,
    levels() {
      clock.catchUp();
      let openTokens = 0;
      for (const handle of open.keys()) openTokens += clock.generatedTokens(handle);
      const { running, waiting, preemptions } = replica;
      return { running, waiting, preemptions, kvUse: replica.kvTokensUsed / replicaModel.kvTokens, openTokens };
    },
  });

  const flush = (): void => {
    clock.catchUp();
    for (const [handle, { stream, writer, choice, end }] of open) if (stream) writer.generated(choice, clock.generatedTokens(handle), end);
  };

  const close = (handle: number, request: OpenChoice): void => {
    open.delete(handle);
    if (!request.stream) return;
    streams -= 1;
    if (streams > 0) return;
    clearInterval(flushTimer);
    flushTimer = undefined;
  };

  return {
    serve(response, request, generations) {
      // The client may have disconnected while its request was read.
      if (response.destroyed) return;
      const arrivedSeconds = clock.nowSeconds();
      const planned = generations.flatMap((generation) =>
        Array.from({ length: request.choices }, () => {
          const end = answerEnd(generation, request, maxModelTokens - generation.inputTokens);
          return { generation, end, handle: clock.submit(generation.inputTokens, end.tokens) };
        }),
      );
      const handles = planned.flatMap(({ handle }) => handle ?? []);
      if (handles.length < planned.length) {
        for (const handle of handles) clock.abort(handle);
        sendError(response, contextRefusal(replicaModel.kvTokens));
        return;
      }
      const { stream, choices } = request;
      const onToolsRead = (isCall: boolean): void => metrics.toolsRead({ isStream: stream, isCall });
      const writer = createAnswerWriter(response, { model, request, generations }, onToolsRead);
      const siblings = generations.map(() => ({ count: choices, open: choices, longestTokens: 0 }));
      planned.forEach(({ generation: { inputTokens }, end }, choice) => {
        const maxTokens = request.maxTokens || maxModelTokens - inputTokens;
        open.set(handles[choice] as number, {
          ...{ writer, choice, stream, inputTokens, end, maxTokens, arrivedSeconds },
          siblings: siblings[Math.floor(choice / choices)] as OpenChoice["siblings"],
          ...{ queueSeconds: null, admittedSeconds: 0, preemptions: 0, firstTokenSeconds: 0, ttftSeconds: 0 },
        });
      });
      if (stream) {
        streams += handles.length;
        flushTimer ??= setInterval(flush, FLUSH_MS);
      }
      clock.catchUp();
      response.on("close", () => {
        clock.catchUp();
        for (const handle of handles) {
          const left = open.get(handle);
          if (left === undefined) continue;
          metrics.aborted(clock.generatedTokens(handle));
          close(handle, left);
          clock.abort(handle);
        }
      });
    },
    metricsText: async () => pythonExposition(`${await metrics.text()}\n${steps.text(model, replica.stepsSoFar)}`, beganSeconds),
    load() {
      clock.catchUp();
      return { running: replica.running, waiting: replica.waiting };
    },
    busy() {
      clock.catchUp();
      return { busySeconds: replica.busySeconds, nowSeconds: clock.nowSeconds() };
    },
    openRequests: () => open.size,
    stop(error) {
      clock.stop();
      clearInterval(flushTimer);
      const cut = new Set([...open.values()].map(({ writer }) => writer));
      open.clear();
      for (const writer of cut) writer.fail(error);
    },
  };
}
