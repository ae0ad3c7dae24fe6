import { Agent } from "undici";
import { guardedConnector } from "./guardedConnector";

const agent = new Agent({ connect: guardedConnector({ timeoutMs: 10_000 }) });

/** `fetch` for addresses that users choose: refused addresses are not connected, and an answer that sends elsewhere is the answer. */
export const guardedFetch = (url: URL | string, init: RequestInit): Promise<Response> => {
  const guarded: RequestInit & { readonly dispatcher: Agent } = { ...init, redirect: "manual", dispatcher: agent };
  return fetch(url, guarded);
};
