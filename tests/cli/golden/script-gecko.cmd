script gecko
