"""Mixed calls for as long as asked: nothing grows, and every answer is the first one."""
