import { TRPCClientError } from "@trpc/client";
import { expect, it, vi } from "vitest";
import { jointStatus, queryStatus } from "./queryStatus";

const base = { data: undefined, error: null, refetch: () => undefined };

it("is loading until there is data, then ready", () => {
  expect(queryStatus(base, { what: "Reading" })).toEqual({ kind: "loading", what: "Reading" });
  expect(queryStatus({ ...base, data: [] }, { what: "Reading" })).toEqual({ kind: "ready" });
});

it("keeps showing old data when a refresh fails, and says that it is stale", () => {
  expect(queryStatus({ ...base, data: [1], error: { message: "no answer" } }, { what: "" })).toEqual({ kind: "stale", note: "no answer" });
});

it("leaves it to the page's banner to say that the studio does not answer, as long as there is data to show", () => {
  const error = new TRPCClientError("Failed to fetch");
  expect(queryStatus({ ...base, data: [1], error }, { what: "" })).toEqual({ kind: "ready" });
  expect(queryStatus({ ...base, error }, { what: "" }).kind).toBe("error");
});

it("offers the way out when there is nothing to show", () => {
  const refetch = vi.fn();
  const status = queryStatus({ ...base, error: { message: "no answer" }, refetch }, { what: "" });
  if (status.kind !== "error") throw new Error(`expected an error, found ${status.kind}`);
  status.retry?.();
  expect(refetch).toHaveBeenCalledOnce();
});

it("lets the caller say that data means nothing yet", () => {
  const empty = { kind: "empty", title: "None", text: "Nothing here." } as const;
  expect(queryStatus({ ...base, data: [] }, { what: "", empty })).toBe(empty);
  expect(queryStatus({ ...base, data: [1] }, { what: "", empty: false })).toEqual({ kind: "ready" });
});

it("tells of several queries the first that failed, and asks for all that gave nothing again", () => {
  const refetches = [vi.fn(), vi.fn(), vi.fn()] as const;
  const [read, failed, pending] = [
    { ...base, data: [], refetch: refetches[0] },
    { ...base, error: { message: "no answer" }, refetch: refetches[1] },
    { ...base, refetch: refetches[2] },
  ];
  const status = jointStatus([read, pending, failed], "Reading");
  expect(status).toMatchObject({ kind: "error", message: "no answer" });
  if (status.kind === "error") status.retry?.();
  expect(refetches.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 1]);
  expect(jointStatus([read, pending], "Reading")).toEqual({ kind: "loading", what: "Reading" });
  expect(jointStatus([read, { ...read, error: { message: "no answer" } }], "")).toEqual({ kind: "stale", note: "no answer" });
  expect(jointStatus([read, read], "")).toEqual({ kind: "ready" });
});
