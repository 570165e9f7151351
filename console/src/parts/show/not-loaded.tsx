// In place of a part of the console that could not be loaded: waits for the network, then reloads the page once. It does without
// the component library, which may be what could not be loaded.
import { useEffect, useState } from 'react';
import { isReachable, reloadOnce } from '../../contract/loading.ts';
import { texts } from '../../contract/texts.ts';

const t = texts({
  offline: [
    '网络已断开，恢复后会自动打开这个页面',
    'You are offline. This page opens by itself when the network is back',
  ],
  failed: [
    '页面文件无法加载，可能刚刚发布了新版本',
    'The files of this page cannot be loaded; a new version may have been released',
  ],
  reload: ['重新加载', 'Reload the page'],
});

const everyMs = 3000;

export function NotLoaded() {
  const [isVain, setVain] = useState(false);
  useEffect(() => {
    let isWanted = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      clearTimeout(timer);
      const isBack = await isReachable();
      if (!isWanted) return;
      if (isBack) setVain(!reloadOnce());
      else timer = setTimeout(() => void look(), everyMs);
    };
    const lookNow = () => void look();
    window.addEventListener('online', lookNow);
    lookNow();
    return () => {
      isWanted = false;
      clearTimeout(timer);
      window.removeEventListener('online', lookNow);
    };
  }, []);
  return (
    <div className="not-loaded" role="alert">
      <p>{isVain ? t.failed : t.offline}</p>
      {isVain && (
        <button type="button" onClick={() => location.reload()}>
          {t.reload}
        </button>
      )}
    </div>
  );
}
