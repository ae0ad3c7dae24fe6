interface Sentences {
  readonly items: readonly string[];
  /** Accessible name of the list. */
  readonly label?: string;
  readonly className?: string;
}

/** Sentences as a list. */
export function NoteList({ items, label, className }: Sentences) {
  return (
    <ul aria-label={label} className={className}>
      {items.map((item) => (
        <li key={item} className="[overflow-wrap:anywhere]">
          {item}
        </li>
      ))}
    </ul>
  );
}

/** Sentences, each a paragraph; `role` where they are announced as they appear. */
export function Notes({ items, role, className }: Omit<Sentences, "label"> & { readonly role?: "status" | "note" | "alert" }) {
  return items.map((item) => (
    <p key={item} role={role} className={className}>
      {item}
    </p>
  ));
}
