import { CopyButton } from "../ui/CopyButton";

/** The address for clients, to copy, and a command to try it. */
export function GatewayAddress({ baseUrl, curl }: { readonly baseUrl: string; readonly curl: string }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      <code className="font-mono text-xs [overflow-wrap:anywhere]">base_url={baseUrl}</code>
      <span className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
        <CopyButton text={baseUrl} label="Copy base_url" />
        <CopyButton text={curl} label="Copy a curl line" />
      </span>
    </span>
  );
}
