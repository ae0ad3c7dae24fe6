import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type ApiError, sendError } from "@/server/contracts/http/apiServer";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { MEMORY_SHARE } from "@/solver/hardware/memoryFit";
import type { ChatRequest } from "./chatRequest";
import { type CompletionWriter, createCompletionWriter } from "./completionWriter";
import { createReplicaClock } from "./replicaClock";
import { createVllmMetrics } from "./vllmMetrics";

export interface EngineCoreOptions {
  readonly model: string;
  readonly replicaModel: ReplicaModel;
  /** Limit for prompt and answer together. */
  readonly maxModelTokens: number;
  readonly timeScale: number;
}

/** The tokens that an engine reads and writes for a request. */
export interface Generation {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Text of the token at an index. */
  readonly token: (index: number) => string;
}

/** The part of an emulated engine that generates: a replica on the wall clock, its open requests and its metrics. */
export interface EngineCore {
  /** Answers a request in the replica's time; a client that disconnects aborts it. */
  serve(response: ServerResponse, chat: ChatRequest, generation: Generation): void;
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

interface OpenRequest {
  readonly writer: CompletionWriter;
  readonly stream: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reason: "stop" | "length";
  readonly arrivedSeconds: number;
  queueSeconds: number | null;
  ttftSeconds: number;
}

/**
 * Interval of stream writes between a request's first and last token, which are sent when they happen: short enough to look live, and long
 * enough that hundreds of streams cost little.
 */
const FLUSH_MS = 40;

/** Starts a replica and its clock. */
export function createEngineCore({ model, replicaModel, maxModelTokens, timeScale }: EngineCoreOptions): EngineCore {
  const open = new Map<number, OpenRequest>();
  let streams = 0;
  let flushTimer: NodeJS.Timeout | undefined;

  const clock = createReplicaClock({
    model: replicaModel,
    timeScale,
    onEvent(kind, handle, seconds, seenSeconds) {
      const request = open.get(handle);
      if (request === undefined) return;
      // Queueing is counted from the entry to the engine, as in vLLM, to the first admission.
      if (kind === "admitted") request.queueSeconds ??= seconds - clock.enteredSeconds(handle);
      if (kind === "first-token") {
        request.ttftSeconds = seenSeconds - request.arrivedSeconds;
        metrics.firstToken(request);
        request.writer.generated(1);
      }
      if (kind === "finished") {
        close(handle, request);
        const { queueSeconds } = request;
        metrics.finished({ ...request, queueSeconds: queueSeconds ?? 0, endToEndSeconds: seenSeconds - request.arrivedSeconds });
        request.writer.finish(request.outputTokens, request.reason);
      }
    },
  });
  const { replica } = clock;

  const metrics = createVllmMetrics({
    model,
    kvTokens: replicaModel.kvTokens,
    memoryShare: MEMORY_SHARE,
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
    for (const [handle, request] of open) if (request.stream) request.writer.generated(clock.generatedTokens(handle));
  };

  const close = (handle: number, request: OpenRequest): void => {
    open.delete(handle);
    if (!request.stream) return;
    streams -= 1;
    if (streams > 0) return;
    clearInterval(flushTimer);
    flushTimer = undefined;
  };

  return {
    serve(response, chat, generation) {
      // The client may have disconnected while its request was read.
      if (response.destroyed) return;
      const arrivedSeconds = clock.nowSeconds();
      const room = maxModelTokens - generation.inputTokens;
      const outputTokens = Math.max(1, Math.min(generation.outputTokens, chat.maxTokens ?? room, room));
      const handle = room < 1 ? null : clock.submit(generation.inputTokens, outputTokens);
      if (handle === null) {
        sendError(response, tooLong(generation, maxModelTokens));
        return;
      }
      const writer = createCompletionWriter(response, {
        id: `chatcmpl-${randomUUID()}`,
        model,
        createdSeconds: Math.floor(Date.now() / 1000),
        stream: chat.stream,
        includeUsage: chat.includeUsage,
        promptTokens: generation.inputTokens,
        token: generation.token,
      });
      open.set(handle, {
        writer,
        stream: chat.stream,
        inputTokens: generation.inputTokens,
        outputTokens,
        reason: outputTokens < generation.outputTokens ? "length" : "stop",
        arrivedSeconds,
        queueSeconds: null,
        ttftSeconds: 0,
      });
      if (chat.stream) {
        streams += 1;
        flushTimer ??= setInterval(flush, FLUSH_MS);
      }
      clock.catchUp();
      response.on("close", () => {
        clock.catchUp();
        const request = open.get(handle);
        if (request === undefined) return;
        metrics.aborted(clock.generatedTokens(handle));
        close(handle, request);
        clock.abort(handle);
      });
    },
    metricsText: () => metrics.text(),
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
      const cut = [...open.values()];
      open.clear();
      for (const request of cut) request.writer.fail(error);
    },
  };
}

const tooLong = ({ inputTokens }: Generation, maxModelTokens: number): ApiError => ({
  status: 400,
  type: "BadRequestError",
  message: `This engine's maximum context length is ${maxModelTokens} tokens. The prompt has ${inputTokens}.`,
  param: "messages",
});
