// What commits with the write of a request, in its transaction.
import type { Transaction } from 'sequelize';

/** For callers that only pass it on. */
export type { Transaction };

/** Statements that commit in the same transaction as a write. */
export interface Unit {
  /** Called at the beginning of each transaction. */
  begin(t: Transaction): Promise<void>;
  /**
   * Called before each commit.
   *
   * @param result the result of the transaction
   * @returns checks whether the transaction was committed when the reply to COMMIT is lost
   */
  end(t: Transaction, result: unknown): Promise<() => Promise<boolean>>;
  /** Called after the commit. */
  committed(): void;
  /** Called when a run has failed and was rolled back. @returns whether the transaction may run again */
  mend(error: unknown): Promise<boolean>;
}
