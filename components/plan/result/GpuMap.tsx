import type { GpuBlock, GpuNode } from "@/components/charts/prepareGpuMap";

function Block({ block }: { readonly block: GpuBlock }) {
  const { identity } = block;
  const name = identity === null ? "free" : identity.model;
  return (
    <li
      title={block.why}
      aria-label={`GPU ${block.gpus.join(", ")}: ${name} ${block.shape}`}
      className={`flex h-9 min-w-7 items-center justify-center gap-1 overflow-hidden rounded border text-xs ${identity === null ? "border-dashed text-ink-3" : "font-semibold"}`}
      style={{
        flex: `${block.gpus.length} 1 0`,
        ...(identity === null ? {} : { borderColor: identity.hue, background: `color-mix(in oklab, ${identity.hue} 26%, var(--panel))` }),
      }}
    >
      {identity?.letter ?? "·"}
      {block.shape !== "" && block.gpus.length > 1 && <span className="font-normal whitespace-nowrap text-ink-2">{block.shape}</span>}
    </li>
  );
}

/** Which replica occupies which GPU, node by node. Hovering a block says why it is there. */
export function GpuMap({ nodes }: { readonly nodes: readonly GpuNode[] }) {
  return (
    <div className="grid gap-x-6 gap-y-2 [grid-template-columns:repeat(auto-fill,minmax(280px,1fr))]" data-testid="gpu-map">
      {nodes.map((node) => (
        <div key={node.name} className="flex items-center gap-2">
          <span
            className={`${node.type === null ? "w-16" : "w-24"} shrink-0 truncate text-xs text-ink-3`}
            title={`${node.name}, ${node.gpus} ${node.type === null ? "" : `${node.type} `}GPUs`}
          >
            {node.name}
            {node.type !== null && <span className="block truncate">{node.type}</span>}
          </span>
          <ul aria-label={`GPUs of ${node.name}`} className="flex min-w-0 flex-1 list-none gap-1">
            {node.blocks.map((block) => (
              <Block key={block.key} block={block} />
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
