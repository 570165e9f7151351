// Measures scroll bars without a style element, which the content security policy refuses.

interface Size {
  width: number;
  height: number;
}

let known: Size | undefined;

function measure(): Size {
  const probe = document.createElement('div');
  Object.assign(probe.style, { position: 'absolute', width: '100px', height: '100px', overflow: 'scroll' });
  document.body.append(probe);
  const size = {
    width: probe.offsetWidth - probe.clientWidth,
    height: probe.offsetHeight - probe.clientHeight,
  };
  probe.remove();
  return size;
}

export function getTargetScrollBarSize(): Size {
  return (known ??= measure());
}

export default function getScrollBarSize(): number {
  return getTargetScrollBarSize().width;
}
