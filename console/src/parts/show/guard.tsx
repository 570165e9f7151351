// Error boundary: a broken part says so, and the rest of the page continues to work.
import { Component, type ReactNode } from 'react';
import { isLoadFailure } from '../../contract/loading.ts';
import { texts } from '../../contract/texts.ts';
import { NotLoaded } from './not-loaded.tsx';

const t = texts({
  cell: ['无法显示', 'Cannot be shown'],
  part: ['这一部分无法显示，其余内容不受影响', 'This part cannot be shown; the rest of the page works'],
});

interface Props {
  /** What it shows; another value resets it. */
  of?: unknown;
  /** Its place: in the page, or in a drawer above it. */
  place?: 'cell' | 'part' | 'drawer';
  children: ReactNode;
}

interface State {
  isBroken: boolean;
  error?: unknown;
}

export class Guard extends Component<Props, State> {
  override state: State = { isBroken: false };

  static getDerivedStateFromError(error: unknown): State {
    return { isBroken: true, error };
  }

  override componentDidUpdate({ of }: Props, { isBroken }: State): void {
    if (isBroken && this.state.isBroken && !Object.is(of, this.props.of)) this.setState({ isBroken: false });
  }

  override render(): ReactNode {
    const { place = 'part', children } = this.props;
    if (!this.state.isBroken) return children;
    if (place === 'cell') return <span className="broken">{t.cell}</span>;
    if (isLoadFailure(this.state.error))
      return (
        <div className={`broken broken-${place}`}>
          <NotLoaded />
        </div>
      );
    return (
      <p className={`broken broken-${place}`} role="alert">
        {t.part}
      </p>
    );
  }
}
