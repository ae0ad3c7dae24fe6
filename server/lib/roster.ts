/** What a roster may hold. */
export interface Listed {
  /** Its place in the roster; -1 while it is in none. Set by the roster alone. */
  place: number;
}

/**
 * Members that come and go all the time, each in one roster at most, in no order. Not a `Set`: V8 links each table that a `Set` outgrows, or
 * fills with removed members, to the next one. Once such a table has died in the old generation, it keeps the tables after it and all their
 * former members, whole requests, alive until the next full collection.
 */
export class Roster<Member extends Listed> implements Iterable<Member> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** Removes a member; does nothing if it is not in the roster. */
  remove(member: Member): void {
    const { place } = member;
    if (place < 0) return;
    member.place = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[place] = last;
    last.place = place;
  }

  /** Removes and returns all members. */
  takeAll(): readonly Member[] {
    for (const member of this.#members) member.place = -1;
    return this.#members.splice(0);
  }

  /** The members at this moment: further ones may come and go meanwhile. */
  [Symbol.iterator](): IterableIterator<Member> {
    return [...this.#members].values();
  }
}
