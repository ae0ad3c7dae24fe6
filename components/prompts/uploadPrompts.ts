import type { PromptSurvey } from "@/server/contracts/studio";
import { pageHeaders } from "../api/pageToken";

/** Upload limit for prompts: they are sampled on disk, never read into memory as a whole. */
export const MAX_PROMPT_BYTES = 2 * 1024 ** 3;

/** A file of prompts that the studio holds until it is sampled, or for a day. */
export interface PromptUpload {
  readonly uploadId: string;
  readonly survey: PromptSurvey;
  /** Where they come from, in words. */
  readonly from: string;
  /** For prompts of a gateway's traffic: days after which their capture deletes them, null: not stated. */
  readonly traffic?: { readonly retentionDays: number | null };
}

/** Why a file is not even sent; null when it may be. */
export function refusalOfPrompts(file: { readonly name: string; readonly size: number }): string | null {
  if (file.size === 0) return `${file.name} is empty: choose a file with a prompt a line.`;
  return file.size <= MAX_PROMPT_BYTES
    ? null
    : `${file.name} is larger than 2 GB, the most the browser sends: split it, or send a part of it. Nothing was sent.`;
}

const unheard = "The studio could not be reached or closed the connection: the file was not uploaded. Try again.";

/** Reads the studio's answer to an upload: the file's survey, or the sentence of a refusal. */
export function readUploadAnswer(text: string, fileName: string): PromptUpload | { readonly message: string } {
  try {
    const answer = JSON.parse(text) as Omit<PromptUpload, "from"> | { readonly message: string };
    return "message" in answer ? answer : { ...answer, from: fileName };
  } catch {
    return { message: unheard };
  }
}

/**
 * Uploads a file of prompts and returns its survey. Throws with the studio's sentence when it is refused, and with an AbortError when it is
 * cancelled. It uses XMLHttpRequest, because `fetch` does not report upload progress.
 */
export function uploadPrompts(
  file: File,
  options: { readonly onSent: (fraction: number) => void; readonly signal: AbortSignal },
): Promise<PromptUpload> {
  const refusal = refusalOfPrompts(file);
  if (refusal !== null) return Promise.reject(new Error(refusal));
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/uploads?kind=prompts&name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [name, value] of Object.entries(pageHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => options.onSent(total === 0 ? 0 : loaded / total);
    request.upload.onload = () => options.onSent(1);
    request.onload = () => {
      const answer = readUploadAnswer(request.responseText, file.name);
      if ("message" in answer) reject(new Error(answer.message));
      else resolve(answer);
    };
    request.onerror = () => reject(new Error(unheard));
    request.onabort = () => reject(new DOMException("Upload cancelled.", "AbortError"));
    options.signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
