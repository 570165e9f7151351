// The session token: in memory and in the sessionStorage of this tab. Other tabs of this origin hand it over when they are asked,
// so that a link in a new tab needs no second sign-in and no storage outlives the tabs.

import { forgetRecent } from './recent.ts';
import { namesInTab, tabStorage } from './tab-storage.ts';

const place = 'console.token';
const answerMs = 150;

type Message = { kind: 'ask' } | { kind: 'token'; token: string } | { kind: 'ended'; token: string };

const tabs = new BroadcastChannel('console.session');
const send = (message: Message): void => tabs.postMessage(message);

/** Before the names of drafts of forms in the sessionStorage. */
export const draftPlace = 'console.draft';

/** At a sign-out. When a session ends by itself they stay for its owner. */
function dropDrafts(): void {
  for (const name of namesInTab()) if (name.startsWith(draftPlace)) tabStorage.removeItem(name);
}

function store(token: string | undefined): void {
  session.token = token;
  if (token) return tabStorage.setItem(place, token);
  tabStorage.removeItem(place);
  // The next person in this tab may be another one.
  forgetRecent();
  session.onLeave?.();
}

export const session = {
  token: tabStorage.getItem(place) ?? undefined,
  /** Called when another tab has signed in while this one shows the sign-in form. */
  onBegin: undefined as (() => void) | undefined,
  /** Called when another tab has signed out. */
  onEnd: undefined as (() => void) | undefined,
  /** Called when this tab has no token any more, for whatever reason. */
  onLeave: undefined as (() => void) | undefined,
  /** Called with the slug of the reason when the service no longer takes the token. */
  onRefused: undefined as ((reason: string) => void) | undefined,
  begin(token: string): void {
    store(token);
    send({ kind: 'token', token });
  },
  /** Forgets the token, here only: the service has ended it, and every tab will hear so. */
  forget(): void {
    store(undefined);
  },
  /** Signs out everywhere. */
  end(): void {
    const { token } = session;
    store(undefined);
    dropDrafts();
    if (token) send({ kind: 'ended', token });
  },
  /** Asks the other tabs. @returns whether one of them is signed in */
  async join(): Promise<boolean> {
    if (session.token) return true;
    send({ kind: 'ask' });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, answerMs);
      arrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    arrived = undefined;
    return session.token !== undefined;
  },
};

let arrived: (() => void) | undefined;

tabs.onmessage = ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'ask' && session.token) send({ kind: 'token', token: session.token });
  if (data.kind === 'token' && !session.token) {
    store(data.token);
    if (arrived) arrived();
    else session.onBegin?.();
  }
  if (data.kind === 'ended' && data.token === session.token) {
    store(undefined);
    dropDrafts();
    session.onEnd?.();
  }
};
