import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { freePorts } from "./freePorts";

it("gives different ports, on none of which something listens, while others are in use", async () => {
  // Half of the block of this process is in use.
  const servers = Array.from({ length: 50 }, () => createServer());
  const used = await freePorts(50);
  await Promise.all(
    servers.map((server, at) => new Promise<void>((listening) => server.listen({ port: used[at], host: "127.0.0.1" }, () => listening()))),
  );
  // More than are left unused of the first draw, so that ports in use are tried again.
  const ports = [...(await freePorts(40)), ...(await freePorts(40))];
  expect(ports.filter((port) => used.includes(port))).toEqual([]);
  expect(ports).toHaveLength(80);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
});

it("gives ports in ascending order, so that engines which count up from the last take none of the others", async () => {
  const ports = await freePorts(10);
  expect(ports).toEqual(ports.toSorted((a, b) => a - b));
});

it("holds a block that no other process draws from", async () => {
  const [port = 0] = await freePorts(1);
  const lock = port - (port % 100);
  const other = `require("node:net").createServer().once("error", ({ code }) => process.stdout.write(code)).listen(${lock}, "127.0.0.1")`;
  expect(spawnSync(process.execPath, ["-e", other], { encoding: "utf8", timeout: 10_000 }).stdout).toBe("EADDRINUSE");
});
