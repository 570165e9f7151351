// A fault that the tests must catch (test/mutation/run.mjs plants them).

export interface Fault {
  /** The source that is changed. */
  file: string;
  /** Stands in it exactly once. */
  from: string;
  to: string;
  /** What the service then does wrong. */
  breaks: string;
  /** The test file that must fail, the quickest one there is. */
  test: string;
  /** Only tests of that title are run; `*` stands for any text. */
  match?: string;
}
