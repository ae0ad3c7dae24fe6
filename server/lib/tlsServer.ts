import { readFileSync, watchFile } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isLoopback, plainAddress } from "./clientAddress";
import { reasonOf } from "./reasonOf";

/** A certificate with its chain, and its private key, as PEM files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * The files named by `WEIR_TLS_CERT_FILE` and `WEIR_TLS_KEY_FILE`; null: neither is.
 *
 * @throws Error with one sentence where only one of them is named.
 */
export function tlsFiles(environment: Readonly<Record<string, string | undefined>>): TlsFiles | null {
  const { WEIR_TLS_CERT_FILE: certFile = "", WEIR_TLS_KEY_FILE: keyFile = "" } = environment;
  if (certFile === "" && keyFile === "") return null;
  if (certFile === "") throw new Error("WEIR_TLS_KEY_FILE is set without WEIR_TLS_CERT_FILE: set both, or neither.");
  if (keyFile === "") throw new Error("WEIR_TLS_CERT_FILE is set without WEIR_TLS_KEY_FILE: set both, or neither.");
  return { certFile, keyFile };
}

/** Interval at which the files are looked at: a renewed certificate is in use within it, without a restart. */
const lookMs = 5_000;
/** Time for the first byte of a connection, which tells TLS from plain HTTP. */
const firstByteMs = 10_000;
/** First byte of a TLS handshake record; no HTTP method begins with it. */
const HANDSHAKE = 0x16;

interface TlsServerOptions {
  readonly files: TlsFiles;
  readonly options?: ServerOptions;
  /** Called with a sentence where changed files cannot be used; the certificate read before stays in use. */
  readonly onProblem: (sentence: string) => void;
}

/**
 * An HTTPS server, TLS 1.2 or newer, not listening yet. Plain HTTP on the same port reaches the same request listener, which tells the two
 * apart with `isEncrypted` and must refuse what may not be answered in plain text (`isPlainFromElsewhere`).
 *
 * @throws Error with one sentence where the files cannot be read, or do not belong together.
 */
export function createTlsServer({ files, options = {}, onProblem }: TlsServerOptions): Server {
  const server = createServer({ ...options, ...read(files), minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] });
  const startTls = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const late = setTimeout(() => socket.destroy(), firstByteMs);
    const drop = (): void => void socket.destroy();
    socket.on("error", drop);
    socket.once("close", () => clearTimeout(late));
    const look = (): void => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) {
        socket.once("readable", look);
        return;
      }
      clearTimeout(late);
      socket.off("error", drop);
      socket.unshift(first);
      if (first[0] === HANDSHAKE) for (const start of startTls) start.call(server, socket);
      // As for a connection whose handshake is done: the server's own limits hold for it.
      else server.emit("secureConnection", socket);
    };
    look();
  });
  const reload = (): void => {
    try {
      server.setSecureContext({ ...read(files), minVersion: "TLSv1.2" });
    } catch (problem) {
      onProblem(`${reasonOf(problem)} The certificate read before stays in use.`);
    }
  };
  for (const file of [files.certFile, files.keyFile]) {
    const watcher = watchFile(file, { interval: lookMs, persistent: false }, reload);
    server.once("close", () => watcher.removeListener("change", reload));
  }
  return server;
}

function read({ certFile, keyFile }: TlsFiles): { readonly cert: Buffer; readonly key: Buffer } {
  const cert = bytes(certFile, "WEIR_TLS_CERT_FILE");
  const key = bytes(keyFile, "WEIR_TLS_KEY_FILE");
  try {
    createServer({ cert, key });
  } catch (cause) {
    throw new Error(`${certFile} and ${keyFile} are no certificate and its private key, both as PEM: ${reasonOf(cause)}.`, { cause });
  }
  return { cert, key };
}

function bytes(file: string, setting: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`${setting} names ${file}, which cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

/** Whether a request came over TLS. */
export const isEncrypted = ({ socket }: Pick<IncomingMessage, "socket">): boolean => socket instanceof TLSSocket;

/** Whether a request came in plain text from another machine, so that others could read it and its answer on the way. */
export const isPlainFromElsewhere = (request: Pick<IncomingMessage, "socket">): boolean =>
  !isEncrypted(request) && !isLoopback(plainAddress(request.socket.remoteAddress));
