// A date range picker.
import { DatePicker } from 'antd';
import { dayToInstant, instantToDay } from '../show/time.ts';

interface Props {
  /** Instants; empty for none. */
  start: string;
  end: string;
  names: string[];
  label: string;
  onChange: (range: Record<string, string>) => void;
}

export default function Calendar({ start, end, names: [from = '', to = ''], label, onChange }: Props) {
  return (
    <DatePicker.RangePicker
      aria-label={label}
      className="filter-period"
      autoFocus
      defaultOpen
      placeholder={[from, to]}
      allowEmpty
      value={[instantToDay(start), instantToDay(end)]}
      onChange={(days) => {
        const [first, last] = days ?? [];
        onChange({
          start_time: first ? dayToInstant(first, 'start') : '',
          end_time: last ? dayToInstant(last, 'end') : '',
        });
      }}
    />
  );
}
