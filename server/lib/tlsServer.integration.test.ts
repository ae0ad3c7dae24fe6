import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type Server } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs, program } from "@/scripts/needs.mjs";
import { testCertificates } from "@/server/contracts/testing/testCertificates";
import { createTlsServer, isEncrypted } from "./tlsServer";

const certificates = testCertificates();
const host = "127.0.0.1";

describe("TLS by certificate files", needs(program("openssl")), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-tls-"));
  const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  const { good = { key: "", cert: "" }, elsewhere = { key: "", cert: "" }, ca = "" } = certificates ?? {};
  const problems: string[] = [];
  let server: Server;
  let port = 0;

  function put({ cert, key }: { readonly cert: string; readonly key: string }): void {
    writeFileSync(files.certFile, cert);
    writeFileSync(files.keyFile, key, { mode: 0o600 });
    const later = new Date(Date.now() + 10_000);
    for (const file of [files.certFile, files.keyFile]) utimesSync(file, later, later);
  }
  const bodyOf = async (response: IncomingMessage): Promise<string> => {
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return text;
  };
  const ask = (over: "http" | "https", body = ""): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { host, port, method: "POST", path: "/", ca, agent: false as const };
      const sent = over === "https" ? httpsRequest(options) : httpRequest(options);
      sent.once("response", (response) => void bodyOf(response).then(resolve, reject));
      sent.once("error", reject);
      sent.end(body);
    });
  const handshake = (options: object): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = tlsConnect({ host, port, ca, ...options }, () => resolve(socket));
      socket.once("error", reject);
    });

  beforeAll(async () => {
    put(good);
    server = createTlsServer({ files, onProblem: (sentence) => problems.push(sentence) });
    server.on("request", async (request, response) =>
      response.end(`${isEncrypted(request) ? "encrypted" : "plain"} ${(await bodyOf(request)).length}`),
    );
    await new Promise<void>((listening) => server.listen(0, host, listening));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    rmSync(folder, { recursive: true });
  });

  it("answers TLS and plain HTTP on one port and knows which is which, with bodies whole", async () => {
    const long = "x".repeat(3_000_000);
    expect(await ask("https", long)).toBe("encrypted 3000000");
    expect(await ask("http", long)).toBe("plain 3000000");
  });

  it("speaks TLS 1.2 and 1.3 and nothing older", async () => {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
    await expect(handshake(old)).rejects.toThrow();
  });

  it("survives a client that breaks off within the first byte, and one that speaks neither", async () => {
    for (const sent of ["", "\x16", "\x16garbage that is no handshake", "garbage"]) {
      const socket = connect(port, host, () => socket.end(sent, "latin1"));
      await new Promise((closed) =>
        socket
          .on("error", () => undefined)
          .on("data", () => undefined)
          .once("close", closed),
      );
    }
    expect(await ask("https")).toBe("encrypted 0");
  });

  it("takes a renewed certificate without a restart, and keeps the one in use where the new files do not belong together", async () => {
    const subject = async (): Promise<unknown> => {
      const socket = await handshake({ rejectUnauthorized: false });
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    };
    expect(await subject()).toBe("good");
    put({ cert: good.cert, key: elsewhere.key });
    await vi.waitFor(() => expect(problems.join()).toContain("The certificate read before stays in use."), 15_000);
    expect(await subject()).toBe("good");
    put(elsewhere);
    await vi.waitFor(async () => expect(await subject()).toBe("x"), 15_000);
  });

  it("is not begun with files that cannot be read or do not belong together", () => {
    const onProblem = () => undefined;
    const missing = { ...files, keyFile: join(folder, "none.pem") };
    expect(() => createTlsServer({ files: missing, onProblem })).toThrow(
      `WEIR_TLS_KEY_FILE names ${missing.keyFile}, which cannot be read`,
    );
    expect(() => createTlsServer({ files: { ...files, keyFile: files.certFile }, onProblem })).toThrow(
      /no certificate and its private key/,
    );
  });
});
