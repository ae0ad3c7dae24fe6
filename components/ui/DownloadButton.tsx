"use client";

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { pageHeaders } from "../api/pageToken";
import { Button } from "./Button";
import { ErrorLine } from "./ErrorLine";
import { saveBlob } from "./saveText";

/** Downloads a file of the studio. A plain link could not send the page token. */
export function DownloadButton(props: { readonly path: string; readonly title?: string; readonly children: ReactNode }) {
  const download = useMutation({ mutationFn: () => downloadFile(props.path) });
  return (
    <>
      <Button
        {...(props.title === undefined ? {} : { title: props.title })}
        disabled={download.isPending}
        onClick={() => download.mutate()}
      >
        {props.children}
      </Button>
      <ErrorLine error={download.error} />
    </>
  );
}

/** Saves what a path of the studio answers under the name that it gives. Throws with its sentence when it refuses. */
async function downloadFile(path: string): Promise<void> {
  const response = await fetch(path, { headers: pageHeaders() });
  if (!response.ok) throw new Error(((await response.json()) as { readonly message: string }).message);
  saveBlob(fileName(response.headers.get("content-disposition") ?? ""), await response.blob());
}

/** The name in a `Content-Disposition`, the one in UTF-8 first. */
export function fileName(disposition: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/i.exec(disposition)?.[1] ?? "download";
}
