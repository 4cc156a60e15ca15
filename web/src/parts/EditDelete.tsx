import { Button, Text } from '@mantine/core'
import { modals } from '@mantine/modals'

interface Props {
  name: string
  /** what is asked before it is deleted, and what follows from it */
  question: string
  consequence: string
  onEdit: () => void
  onDelete: () => void
}

/** EditDelete are the buttons at the end of a row. Deleting asks first. */
export function EditDelete({ name, question, consequence, onEdit, onDelete }: Props) {
  const ask = () =>
    modals.openConfirmModal({
      title: question,
      children: (
        <Text size="sm" c="dimmed">
          {consequence}
        </Text>
      ),
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: onDelete,
    })
  return (
    <>
      <Button variant="subtle" onClick={onEdit} aria-label={`Edit ${name}`}>
        Edit
      </Button>
      <Button variant="subtle" color="red" onClick={ask} aria-label={`Delete ${name}`}>
        Delete
      </Button>
    </>
  )
}
